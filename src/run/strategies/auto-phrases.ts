/**
 * What people write when they want a certain kind of work, by language: data alone, read by `auto-patterns.ts`. In a phrase `*`
 * stands for any letters, `…` for a few words, `(a|b)` for either, `^` for the beginning of the request; case and the kind of
 * apostrophe make no difference.
 */
export type Phrases = readonly string[];

/** Says nothing about the work: taken out before anything is looked for. */
export const courtesies: Phrases = [
  "yo, lol, haha, ok, okay, great, perfect, cool, nice, super, prima, alles klar, wow, ^(and )?now, ^(evening|morning), ^you're (the best|great|right|welcome|funny|so kind), no further questions, ^und jetzt, ^y ahora, ^et maintenant",
  "hi, hello, hey, good (morning|evening|afternoon|night), how are you( today| doing)?, how is it going, please, kindly, thanks",
  "thank you( so much| very much| in advance)?, thank you for [^\\n.;!?]+, see you( tomorrow| later| soon)?, have a nice …(day|weekend|evening)",
  "(could|can|would|will) you( please| perhaps)?, i('d| would) like (you )?to, i want (you )?to, i need you to, be so kind and, sorry to bother you",
  "hallo, guten (morgen|tag|abend), gute nacht, danke( dir| schön| sehr)?, bitte, vielen dank, schönes wochenende, (kannst|könntest) du, (können|könnten) sie",
  "wie geht( e|')?s( dir)?, hola, buenos días, buenas (tardes|noches), (muchas )?gracias( por …(ayuda|todo))?, por favor, bonjour, bonsoir, merci( beaucoup)?, s'il (te|vous) plaît, peux-tu",
  "привет, здравствуйте, добрый (день|вечер), доброе утро, спасибо, как дела, пожалуйста, 你好, 谢谢, 请, merhaba, selam, nasılsın*, teşekkür*( ederim)?, lütfen",
];

/** What is said not to be done. */
export const negations: Phrases = [
  "(do not|don't|no need to|without) [\\p{L}]+( it| them)?, (ohne|ne|no|не) [\\p{L}]+ (zu|pas|lo|это)",
];

/** Said in answer to a question, these let something happen. */
export const agreement: Phrases = [
  "ok, okay, great, perfect, cool, nice, super, prima, alles klar, please, bitte, por favor, s'il (te|vous) plaît, пожалуйста, 请, lütfen",
];

/** Small talk, feelings, questions about the agent. */
export const talk: Phrases = [
  "who are you, what can you do, what i needed, it helped, helped a lot, (i|we) feel, i'm (sad|so|lonely|afraid|stressed|tired|happy|bored|nervous|glad|angry|excited|worried|proud|exhausted|overwhelmed|confused), i am (sad|so|lonely|afraid|stressed|tired|happy|bored|nervous|glad|angry|excited|worried|proud|exhausted|overwhelmed|confused), devil's advocate, quiz me, teach me, motivate me, cheer me up, (died|crying|cry|heartbroken), my name is, tell me about yourself, happy (new year|birthday), roleplay, pretend (to be|you are|you're), (act as|be) (my|an?) [\\p{L}]+",
  "wer bist du, was kannst du, ich (fühle|bin traurig|freue|heiße), tu peux m'appeler, je m'appelle, me llamo, quién eres, estoy (triste|cansad*|feliz), кто ты, меня зовут, мне (грустно|плохо), 你是谁, 我叫, 难过, kimsin, adım, üzgünüm",
];

export const opinion: Phrases = [
  "what do you think, your (opinion|view|favourite|favorite), make(s)? sense, themes? of, let's (play|talk), (fair|kind) way, do you (like|prefer|agree|believe|think), should (i|we), would you rather, sounds better, is it (rude|ok|okay|fair|normal|weird|worth|possible|safe|healthy|wrong|bad|good), ist es (unhöflich|schlimm|normal|okay|richtig|falsch|gesund|möglich), what (could|should|can|would) (i|we), which is (better|healthier|nicer|worse|easier|harder|safer), any [\\p{L}]+ (words|tips|ideas), rate (this|my), argue (that|for|against), suggest (a|an|some|me), convince me, ^imagine, which do you prefer, any advice, (good|best|nice|polite) (way|ways) to, would …(say|think) about, (is|are) there …(life after|such a thing)",
  "was (hältst|denkst|meinst) du, dein(e|er) (meinung|ansicht), soll(te)? ich, findest du, wie (sage|erkläre) ich, qué (opinas|piensas|te parece), crees que, debería, (que|qu'en) penses-tu, à ton avis, dois-je",
  "что ты думаешь, как ты считаешь, твоё мнение, стоит ли, посоветуй*, 你觉得, 你认为, 我应该, ne düşünüyorsun, sence",
];

/** Work on a text that is given: what follows is material, whatever it says. */
export const textWork: Phrases = [
  "translate, rephrase, reword, paraphrase, proofread, (rewrite|shorten|simplify|improve|format|polish|edit|put) (this|the following), convert (this|the following) (sentence|text|paragraph), (fix|check|correct) …(grammar|spelling|sentence|text|wording), how do (you|i) say, (make|let) (this|it) (sound|read), make (this|it) …(shorter|longer|simpler|politer|friendlier|formal|angry)",
  "summari(s|z)e (this|the following)( text| article| paragraph)?, turn (these|this|the following) …into, ^(in|into) (english|german|french|spanish|italian|russian|chinese|turkish)",
  "übersetz*, (fass|fasse) (den|diesen|folgenden|das) …zusammen, formulier* …um, korrigier*, (verbesser*|kürz*) (diesen|den|folgenden|das), was heißt …auf, wie sagt man, ^(auf|ins) (deutsch*|englisch*|französisch*|spanisch*)",
  "traduce*, traducir, cómo se dice, ^en (inglés|español|alemán|francés), traduis, traduire, traduisez, comment dit-on, ^en (anglais|français|allemand), corrige, reformul*, résum(e|er|ez) (ce|le) texte, resume (este|el siguiente)",
  "переведи*, перевод, как сказать, исправь, перефразируй, 翻译, 译成, 改写, 润色, 改得, 怎么说, çevir*, tercüme*, düzelt",
];

/** Something written from nothing but the request. */
export const creative: Phrases = [
  "(a|an|some|another|the|your|short|good|[0-9]+|one|two|three|five|ten) …(poem|haiku|limerick|joke|jokes|riddle|fairy tale|bedtime story|slogan|slogans|motto|toast|pun|puns|tagline|lyrics|nicknames|love letter), (write|tell|make up|invent) …(story|tale|song|dialogue), (names?|ideas|titles|nicknames|suggestions) for, …ideas, brainstorm",
  "^(write|draft|compose) (me |us )?(a|an|some|two|three|the), (write|draft|compose|word) …(speech|message|e-mail|email|letter|wording|text|post|caption|invitation|card|bio|essay|paragraph|introduction), (continue|end|finish) the (story|poem|song|dialogue|text), (title|headline|name|caption) for, (write|show) …(function|script|program|regex|regular expression|one-liner|class|snippet|query|code), how would you write",
  "(schreib*|dicht*|erzähl*|erfind*|verfass*|formulier*|entwirf)( mir| uns)? (ein*|das|die|den|zwei|drei) [^\\n.;!?]+, (gedicht|märchen|witz|slogan|reim|trinkspruch), ideen für, namen für",
  "(écris|écrivez|rédige|raconte|invente|compose) …(texte|poème|histoire|blague|lettre|chanson|message|mot), idées (de|pour), escríbeme un[ao]?, (escribe|cuenta|cuéntame|inventa|redacta) …(poema|cuento|historia|chiste|carta|canción|mensaje|texto), ideas (de|para)",
  "(напиши|расскажи|придумай|сочини) …(стих*|сказк*|истори*|анекдот*|шутк*|имя|имена|письмо|поздравлени*|тост|текст), идеи для, (写|编|讲)[^，。\\n]{0,8}(诗|故事|笑话|歌|信|祝福|文案), (şiir|hikaye|masal|fıkra|mektup) (yaz|anlat), isim öner",
];

/** Writing that rests on facts. */
export const factual: Phrases = [
  "report, review, analysis, article, overview, comparison, summary, bericht, übersicht, analyse, zusammenfassung, auswertung, informe, resumen, rapport, отчёт, отчет, обзор, 报告, rapor",
];

/** Asks about a world that is made up, where nothing can be looked up. */
export const fiction: Phrases = [
  "in (the|this|that) (story|novel|tale|film|movie|fairy tale|poem|play), in (der|dieser) geschichte, im (roman|film|märchen), en (el cuento|la novela|la película), dans (l'histoire|le roman|le film), в (рассказе|романе|фильме|сказке), 在?(故事|小说|电影)里",
];

/** Knowledge that does not change and that no tool holds better than the model. */
export const knowledge: Phrases = [
  "explain*, describe*, what (is|are|was) (a|an), what('s| is| are) (the )?(difference|meaning|pros|advantages), what (are|makes) (good|some), what would (a|an), what does …mean, difference between, how (does|do) …(work|works|decide|function), how (do|can|should|would) (i|you|one|we), how (do|can) [\\p{L}]+s, ^(can|do|is|are|does) (a|an|people|humans|animals|plants), what('s| is) the (plural|opposite|moral|past tense|origin|purpose|point|definition|formula), why (are|do|can|does) (?!my |our |the |i |we )[\\p{L}]+, ^is [\\p{L}]+ an? [\\p{L}]+\\??$, (arguments?|reasons?|examples?) (for|against|of), why (is|does) the (sky|sea|ocean|sun|moon|earth|grass|snow)",
  "in general, generally, pros and cons, advantages and disadvantages, history of, theory of, recipe, who (wrote|painted|composed|invented|discovered), (verb|word|phrase|synonym|idiom|grammar|spelling|regular expression), how would you",
  "was (ist|sind) ein*, was (bedeutet|bedeuten|heißt), wie heißt, wie funktionier*, erklär*, unterschied zwischen, (warum|wieso) (haben|können|gibt|ist der himmel), wie (macht|kocht|schreibt|backt) man, welche* …ist …(leichter|schwerer|besser|gesünder|schöner|älter), (argumente|gründe|beispiele) (für|gegen), qué (es|son) (el|la|los|las|un|una), qué significa, explica*, cómo (funciona*|se (hace|escribe)), por qué (los|las), diferencia entre",
  "qu'est-ce (que|qu'), expliqu*, comment fonctionn*, pourquoi les, comment (faire|on fait|dit-on), différence entre, что такое, что значит, объясни*, как работает, почему небо, 什么是, 解释, 怎么工作, 区别, nedir, ne demek, açıkla, nasıl (çalışır|yapılır|gerçekleşir|olur)",
];

/** Asks for something that only a tool can do or know. */
export const toolSigns: readonly {
  readonly reason: string;
  readonly words: RegExp | Phrases;
  readonly unless?: RegExp | Phrases;
}[] = [
  {
    reason: "the user's tasks",
    words: [
      "(add|create|new|delete|remove|complete|finish|change|rename|update|show|list|close|which|what|open|my|all|every) …(task|tasks|todo|todos|to-dos), (my|the) (to-do |todo |shopping )?list, ^todo, remind me, (a|the) reminder, (mark|tick|check|cross) …(done|off|complete), not to forget, not forget, don't let me forget",
      "aufgabe*, erinner* mich, (auf|von) (die|meine|meiner|der) …liste, abhaken, hak(e|) …ab, задач*, спис(ок|ке|ка) дел, напомни*, tareas?, recuérdame, mi lista, tâches?, rappelle-moi, ma liste, 任务, 待办, 提醒我, görev*, yapılacak*, hatırlat*, listeme",
    ],
  },
  {
    reason: "the date or the time",
    unless: fiction,
    words: [
      "what time is it, what's the time, the time (now|in), current (time|date), what (day|date) is, today's date, what's the date, how (many|long) …until, days (until|since|left)",
      "wie spät, wie viel uhr, wieviel uhr, welche* (tag|datum) …(heute|ist), wie viele tage, который час, сколько времени, какое сегодня число, qué hora, qué día es, quelle heure, quel jour, 几点, 几号, 星期几, saat kaç, bugün günlerden",
    ],
  },
  {
    reason: "a calculation",
    words:
      /[\d!)]\s*[*×÷^/]\s*\(*\d{1,12}(?!\s*[/.-]\s*\d)|\d\s+[-+/x]\s+\d|\d\s*\+\s*\d|\d\s*(%|percent|prozent|процент\p{L}*|por ciento|pour cent)\s*(of|on|auf|von|interest|vat|tax|mehrwertsteuer|от|de|sur|zinsen|iva|tva)|%\s*(zinsen|interest)|(?<!\p{L})(calculate|compute|work out|berechne|rechne|calcula|calcule|hesapla|вычисли|посчитай|сколько будет)(?!\p{L})|计算|等于多少|(?<!\p{L})convert\s+[\d.,]+|how (much|many) (is|are|do i|would i|will i)[^.?!]*\d|(?<!\p{L})(?:(?:square )?root of|average of|sum of|percent of|split|divide|add up|multiply|subtract)(?!\p{L})[^.?!]*\d|[\d.,]{1,20}\s*(miles|km|kilomet\p{L}+|feet|pounds|kg|usd|eur|dollars|euros)\s+(in|to|into|nach|auf|en)\s+\p{L}+/gu,
  },
  {
    reason: "code to run",
    words: [
      "(run|execute) (this|it|the|that|my), (führ*|lass*) …(aus|laufen), tell me the output, draw a (chart|graph|diagram), ejecuta, exécute, запусти*, выполни код, 运行, 执行, çalıştır",
    ],
  },
  {
    reason: "a search",
    words: [
      "search (for|the|online|my|in|on), (look|looking) (up|in|for), google, on the (web|internet), online, find (me|the|out|a source)",
      "such mir, im (internet|netz), raussuchen, busca*, en internet, cherche*, sur internet, найди*, поищи*, в интернете, 搜索, 搜一下, 查一下, 查找, 上网, internette, araştır*, ara bul",
    ],
  },
  {
    reason: "a page",
    words:
      /https?:\/\/\S+|(?<![\p{L}\p{N}@._-])(?:[\w-]+\.)+(?:com|org|net|de|io|dev|eu|fr|es|ru|cn|tr)(?![\p{L}\p{N}])/gu,
  },
  {
    reason: "a file or a document",
    words:
      /(?<![\p{L}\p{N}_-])[\p{L}\p{N}_-]+\.(?:csv|tsv|pdf|docx?|xlsx?|md|txt|json|ya?ml|toml|py|tsx?|html?|css|log|pptx?|sql|xml|png|jpe?g|zip|ini|env)(?![\p{L}\p{N}])/gu,
  },
  {
    reason: "a file or a document",
    words: [
      "attached, attachment, workspace, (the|this|my|that|each|every|all|ten) (file|files|folder|directory|spreadsheet|csv|pdf|readme|script|repository|repo), my (documents|notes|letters|contract|mail|inbox|calendar), our …(policy|policies|handbook|wiki|documentation|contract|guidelines|docs|rules)",
      "(save|store|export|write) (it|this|that|them|everything|the result) (as|to|in|into), (save|store) (it|this|that|the), as (a )?(separate )?files?, as (pdf|csv|a pdf|a spreadsheet), slides, presentation, slide deck, powerpoint",
      "anhang, angehängt*, (die|der|diese|meine) datei*, als datei, speicher*, im vertrag, (meine|meinen|unsere|unseren|unserem|unserer) (dokument*|unterlagen|vertrag|handbuch|richtlinie*), präsentation, folien",
      "файл*, сохрани*, вложени*, документ*, презентаци*, archivo*, adjunto*, guarda*, documento*, presentación, diapositivas, fichier*, pièce jointe, enregistre*, présentation, 文件, 附件, 保存, 幻灯片, 文档, dosya*, kaydet*, belge*, sunum*",
    ],
  },
  {
    reason: "a message to send",
    words: [
      "(send|mail|e-mail|email) (me|him|her|them|us|it|this|the|a|an|[\\p{L}]+ that|to), (schick*|send*) …(mail|e-mail|nachricht), отправь*, envía*, mándale, envoie*, 发送, 发邮件, gönder*",
    ],
  },
  {
    reason: "the project's board",
    words: [
      "(create|open|close|list|show|which|all|assign|move) …(issue|issues|ticket|tickets|user story|user stories), sprint, backlog, тикет*",
    ],
  },
];

/** The answer may have changed since the model was made, or is about what only the user has. */
export const fresh: Phrases = [
  "latest, newest, news, what's new, current, currently, right now, at the moment, now, today, yesterday, tomorrow, tonight, (this|last|next) (week|weekend|month|year|quarter|season), since (yesterday|monday|last), on (monday|tuesday|wednesday|thursday|friday|saturday|sunday)",
  "weather, forecast, rain*, snow, how (warm|cold|moist|wet|humid|full|late|busy), when (does|do|did|is|was|will), (did|does|will) [\\p{L}]+ (win|lose|play|open|close), who won, score, how many, is [\\p{L}]+ (down|up|open|closed|online|offline)\\??$, past [0-9]+, umbrella, temperature, price of, prices, how much (does|do|is), stock price, exchange rate, opening hours, (train|flight|bus) (times|strike|schedule), reachable, strike, traffic, population, how (tall|high|far|old|big), (19|20)\\d\\d, cheapest, book (me|a), recommend*, cheaper, (geöffnet|abierto|ouvert), open (on|at|until|now), logs?, last [\\p{L}]+, (dax|nasdaq|bitcoin|stocks?|shares), (the|a) (wiki|board|handbook|inbox|database|server|backup|build|meeting|appointment|dashboard|documents?|receipts|customer|order|contract|ticket), next (train|bus|flight|ferry|ice|tram), leaves, departs, arrives, near me, our, my (account|server|database|order|package|computer|internet|laptop|team|project), address of, phone number",
  "aktuell*, unser*, gerade, jetzt, heute, gestern, morgen, neueste*, nachrichten, wetter, regnet, was kostet, preise?, strompreise, wann (fährt|kommt|öffnet|schließt|beginnt|ist), schneit, öffnungszeiten, adresse, (diese|nächste|letzte)[nrs]? (woche|monat|jahr)",
  "qué tiempo, quel temps, hoy, ayer, mañana, ahora, última*, noticias, precio*, clima, сегодня, вчера, завтра, сейчас, последни*, новост*, погод*, цен[аы], курс, aujourd'hui, hier, demain, maintenant, dernièr*, météo, horaires, prix",
  "今天, 昨天, 明天, 现在, 最新, 新闻, 天气, 价格, 多少钱, 汇率, ne kadar, сколько дней, когда, cuándo, quand, 什么时候, bugün, dün, yarın, şimdi, son dakika, haber*, hava durumu, fiyat*, kaç (lira|tl|dolar)",
];

/** Each finding decides what is looked at next. */
export const investigation: Phrases = [
  "find out (why|who|which|how|whether|if|what), (figure|work) out (why|which|who|what went|how), investigat*, get to the bottom, track down, root cause, debug, diagnose, troubleshoot, trace (back|where), (fact-check|verify) …(claim|sources), is the claim, is it true that …(source|check), one after (another|the other), until you find, what (caused|went wrong), what happened\\??$, what is the reason, (trace|find|locate|hunt) …(bug|error|fault|leak|mistake), try to verify, verify (where|when|who|whether), if (not|that fails) try, (see|look|find) what …(say|says|tell|tells|show|shows), which …went wrong, step by step through, narrow down, weigh (it|them) up, who (was it|did it|has done)",
  "(check|according to|read|ask|compare) …(several|multiple|various|many|different|two|three|four|five|at least) [\\p{L} ]{0,12}(sources|tests|reviews|sites|shops|places), (don't|doesn't|no longer|not) (match|add up|agree|fit|arrive|load|start|respond)",
  "why (do|does|did|is|are|has|have) …(fail|fails|failed|failing|differ|differs|slow|slower|crash|crashes|crashed|broken|down|stop|stops|wrong|empty|missing|hang|hangs|error|errors|higher|lower|not), why (can't|won't|isn't|aren't|doesn't|don't|didn't|wasn't|weren't|hasn't)",
  "(which|who|what) [^\\n.;!?]{0,80}and (what|how|who|when|why|where) (did|does|do|is|are|was|were|has), (who|what|where|when) (is|was|were|did) the …of the …(in which|where|that|whose|who)",
  "der reihe nach, eins nach dem anderen, (finde|find|krieg) …(heraus|raus)(,)? (warum|wieso|weshalb|wer|welche*|woran), untersuch*, geh …auf den grund, woran (liegt|liegt es), ursache, fehlersuche, (warum|wieso|weshalb) …(fehl*|langsam*|abgestürzt|kaputt|falsch|nicht|kein*), was ist (passiert|schiefgelaufen)",
  "averigua*, (investiga|descubre) por qué, por qué …(falla|lento|lenta|error|cae|no), qué pasó, (trouve|cherche|découvre) pourquoi, pourquoi …(échou*|lent|lente|panne|erreur|pas), que s'est-il passé",
  "выясни*, разберись, правда ли, найди причину, почему …(не|падает|медленн*|ошибк*), что случилось, (查|找)[^，。\\n]{0,4}为什么, 为什么[^，。\\n]{0,12}(不|失败|慢|错|崩溃), 排查, neden …(araştır|bul|incele|çalışmıyor|yavaş), sebebini bul",
];

/** Of what is the user's own, or recent, the cause is not known before it is found. */
export const whyQuestion: Phrases = [
  "^why, ^how come, ^(warum|wieso|weshalb), ^por qué, ^pourquoi, ^почему, ^为什么, neden, go through …(documents|files|notes|mails|tickets|logs)",
];

/** Side by side, with facts that have to be looked up first. */
export const comparison: Phrases = [
  "compar*, vergleich*, which …(cheaper|cheapest|faster|better), сравни*, 比较, 对比, karşılaştır*",
];

/** Says itself that there are several parts, or names a work that has many. */
export const bigWork: Phrases = [
  "(make|create|write|draw up) a plan …(and (carry|execute|do|then|follow|work)), plan and (do|execute|carry), plan it and, literature review, market analysis, business plan, end to end, from start to finish, work through (this|the) list",
  "(mach*|erstell*) einen plan …und (führ*|setz*|arbeit*), plane und, marktanalyse, businessplan, geschäftsplan, plan de negocio, business-plan, бизнес-план, 商业计划, iş planı, haz un plan y, estudio de mercado, étude de marché, исследование рынка, 市场调研, pazar araştırması, fais un plan et, составь план и, 制定计划并, plan yap ve",
];

/** Words that put parts in order: two kinds of them make a sequence. */
export const order: readonly Phrases[] = [
  [
    "first, firstly, to begin with, start by, zuerst, als erstes, erst, primero, d'abord, сначала, сперва, 先, 首先, önce",
  ],
  [
    "then, after that, afterwards, next, once that, dann, danach, anschließend, luego, después, ensuite, puis, затем, потом, 然后, 再, 接着, sonra",
  ],
  [
    "finally, lastly, at the end, in the end, zum schluss, schließlich, am ende, abschließend, finalmente, por último, enfin, finalement, наконец, в конце, 最后, en son, son olarak",
  ],
];

/** The parts are counted: "Step 1", or a line that begins with a number or a dash. */
export const listItem =
  /(?<!\p{L})(?:step|schritt|paso|étape|шаг|adım)\s*\d+|第[一二三四五六]步|(?<![\p{L}\p{N}(])[a-h]\)\s|^[^\S\n]*(?:\d+[.)]|[-*•])\s+\S/gmu;

/** Things that a work leaves behind; three kinds of them are a work of many parts. */
export const results: Phrases = [
  "report, slides, slide deck, presentation, handbook, checklist, spreadsheet, table, chart, diagram, timeline, index, summary, budget, website, mail, e-mail, invitation, folien, präsentation, bericht, tabelle, diagramm, checkliste, handbuch, finanzplan, zusammenfassung",
  "informe, presentación, tabla, gráfico, rapport, présentation, tableau, graphique, отчёт, презентаци*, таблиц*, график, 报告, 幻灯片, 表格, 图表, rapor, sunum, tablo, grafik",
];

/** Each of many: with two things to do it is a plan. */
export const many: Phrases = [
  "for each, for every, each of the, für jede*, para cada, pour chaque, для каждо*, 每个, 每一, her biri",
];

/** Verbs as they begin an instruction (`ends`: as they end it), and whether the work needs a tool. */
export const verbs = {
  tool: [
    "search research look find google check open read save store run execute calculate add delete remove mark mail email send remind schedule plot download fetch collect gather investigate analyse analyze extract export upload import browse crawl scan track draw test verify pull set rename move copy sort filter merge group clean deploy install migrate configure",
    "such suche suchen recherchiere recherchier finde lies lese öffne speichere speicher führe berechne rechne schick schicke sende lösche prüfe schau schaue sammle sammel analysiere trag erinnere",
    "busca investiga encuentra lee abre guarda calcula envía manda borra analiza recopila agrega añade cherche trouve lis ouvre enregistre calcule envoie supprime vérifie analyse recherche ajoute",
    "найди поищи прочитай открой сохрани запусти посчитай вычисли отправь удали проверь собери проанализируй исследуй добавь",
  ],
  make: [
    "write make create build prepare put compare draft turn design compile list summarize summarise convert work generate produce set organize organise plan fix complete close book publish train translate evaluate measure report refactor",
    "schreib schreibe mach mache erstelle baue bau bereite vergleiche entwirf fasse stelle wandle plane zeichne",
    "escribe haz crea prepara compara redacta diseña resume écris fais crée prépare compare rédige conçois résume",
    "напиши сделай создай построй подготовь сравни составь оформи",
  ],
  ends: [
    "durchgehen löschen speichern schreiben suchen recherchieren erstellen machen verschicken senden prüfen sammeln berechnen vergleichen zusammenfassen auswerten",
    "araştır yaz hazırla bul kaydet gönder hesapla karşılaştır topla oku yap oluştur ekle sil",
  ],
  chinese: /^(?:搜索|查找|查|找|读|写|做|保存|发送|计算|比较|整理|收集|分析|添加|删除|制作|生成)/u,
};

/** A short answer to what was said before: what to do with the last text, or to do the last work again. */
export const rewriting: Phrases = [
  "shorter, longer, simpler, more (detail|details), more (formal|polite|casual|detailed|friendly), less formal, in (english|french|german|spanish|italian|russian|chinese|turkish|japanese|portuguese), for a child, explain that, ^why\\??$, what do you mean, in other words, another one, as a poem, bullet points, as a (list|table), make it (rhyme|sound), go deeper",
  "kürzer, länger, einfacher, förmlicher, freundlicher, auf (deutsch|englisch|französisch|spanisch), ^warum\\??$, anders gesagt, más corto, en (inglés|español|francés|alemán), plus court, en (anglais|français|allemand), короче, проще, ^почему\\??$, по-(английски|русски|немецки), 短一点, 用(英文|中文|法语), daha kısa, ingilizce, ^neden\\??$",
];

/** The same work for something else, or a yes to it. */
export const repeating: Phrases = [
  "again, once more, yes, yeah, do (it|that|this), go (on|ahead), continue, same, next one, ^and, ^what about, ^how about, (add|send|delete|save|book|run|try) (it|that|them)",
  "^und, ja, mach (das|es), nochmal, noch einmal, weiter, dasselbe, ^y, sí, hazlo, otra vez, ^et, oui, encore, ^а, да, ещё раз, продолжай, 再, 继续, 好的, 那么?, evet, tekrar, devam",
];
