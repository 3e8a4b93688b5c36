/** Texts of the login forms, in the page's languages. */
const en = {
  logIn: { title: "Log in", button: "Log in" },
  setUp: { title: "Create the first admin", button: "Create account" },
  signUp: { title: "Create an account", button: "Create account" },
  reset: { title: "Set a new password", button: "Set password" },
  name: "Name",
  password: "Password",
  hint: "At least 8 characters",
  createAccount: "Create an account",
  noAccountYet:
    "No account yet? Ask an admin of this server for one. The link for the first admin is printed where the server was started.",
  invitationNeeded: "To create an account, open the invitation link you were sent.",
  signUpClosed: "This server doesn't accept new accounts. Ask an admin for one.",
  noToken: "This link is incomplete. Copy the whole link you were sent.",
  noServer: "Can't reach the server.",
  noScript: (post: string, docs: string) =>
    `This page needs JavaScript. Without it, POST JSON to ${post}; see ${docs}.`,
  docs: "the API",
};
export type PageWords = typeof en;

const de: PageWords = {
  logIn: { title: "Anmelden", button: "Anmelden" },
  setUp: { title: "Den ersten Admin anlegen", button: "Konto anlegen" },
  signUp: { title: "Neues Konto", button: "Konto anlegen" },
  reset: { title: "Neues Passwort", button: "Passwort setzen" },
  name: "Name",
  password: "Passwort",
  hint: "Mindestens 8 Zeichen",
  createAccount: "Konto anlegen",
  noAccountYet:
    "Noch kein Konto? Bitten Sie einen Admin dieses Servers um eines. Der Link für den ersten Admin steht dort, wo der Server gestartet wurde.",
  invitationNeeded: "Um ein Konto anzulegen, öffnen Sie den Einladungslink, den Sie bekommen haben.",
  signUpClosed: "Dieser Server nimmt keine neuen Konten an. Fragen Sie einen Admin danach.",
  noToken: "Dieser Link ist unvollständig. Kopieren Sie den ganzen Link, den Sie bekommen haben.",
  noServer: "Der Server ist nicht erreichbar.",
  noScript: (post, docs) => `Diese Seite braucht JavaScript. Ohne: JSON mit POST an ${post}, siehe ${docs}.`,
  docs: "die API",
};

const es: PageWords = {
  logIn: { title: "Iniciar sesión", button: "Iniciar sesión" },
  setUp: { title: "Crear el primer administrador", button: "Crear cuenta" },
  signUp: { title: "Crear una cuenta", button: "Crear cuenta" },
  reset: { title: "Establecer una contraseña nueva", button: "Establecer contraseña" },
  name: "Nombre",
  password: "Contraseña",
  hint: "Al menos 8 caracteres",
  createAccount: "Crear una cuenta",
  noAccountYet:
    "¿Aún no tienes cuenta? Pídesela a un administrador de este servidor. El enlace para el primer administrador aparece donde se inició el servidor.",
  invitationNeeded: "Para crear una cuenta, abre el enlace de invitación que recibiste.",
  signUpClosed: "Este servidor no acepta cuentas nuevas. Pídesela a un administrador.",
  noToken: "Este enlace está incompleto. Copia el enlace entero que recibiste.",
  noServer: "No se puede conectar con el servidor.",
  noScript: (post, docs) => `Esta página necesita JavaScript. Sin él, envía JSON por POST a ${post}; consulta ${docs}.`,
  docs: "la API",
};

const fr: PageWords = {
  logIn: { title: "Connexion", button: "Se connecter" },
  setUp: { title: "Créer le premier administrateur", button: "Créer le compte" },
  signUp: { title: "Créer un compte", button: "Créer le compte" },
  reset: { title: "Choisir un nouveau mot de passe", button: "Enregistrer le mot de passe" },
  name: "Nom",
  password: "Mot de passe",
  hint: "Au moins 8 caractères",
  createAccount: "Créer un compte",
  noAccountYet:
    "Pas encore de compte ? Demandez-en un à un administrateur de ce serveur. Le lien du premier administrateur est affiché là où le serveur a été démarré.",
  invitationNeeded: "Pour créer un compte, ouvrez le lien d'invitation que vous avez reçu.",
  signUpClosed: "Ce serveur n'accepte pas de nouveaux comptes. Demandez-en un à un administrateur.",
  noToken: "Ce lien est incomplet. Copiez le lien entier que vous avez reçu.",
  noServer: "Impossible de joindre le serveur.",
  noScript: (post, docs) =>
    `Cette page a besoin de JavaScript. Sans lui, envoyez du JSON par POST à ${post} ; voir ${docs}.`,
  docs: "l'API",
};

const pt: PageWords = {
  logIn: { title: "Entrar", button: "Entrar" },
  setUp: { title: "Criar o primeiro administrador", button: "Criar conta" },
  signUp: { title: "Criar uma conta", button: "Criar conta" },
  reset: { title: "Definir uma nova senha", button: "Definir senha" },
  name: "Nome",
  password: "Senha",
  hint: "Pelo menos 8 caracteres",
  createAccount: "Criar uma conta",
  noAccountYet:
    "Ainda não tem conta? Peça uma a um administrador deste servidor. O link do primeiro administrador aparece onde o servidor foi iniciado.",
  invitationNeeded: "Para criar uma conta, abra o link de convite que você recebeu.",
  signUpClosed: "Este servidor não aceita novas contas. Peça uma a um administrador.",
  noToken: "Este link está incompleto. Copie o link inteiro que você recebeu.",
  noServer: "Não foi possível contatar o servidor.",
  noScript: (post, docs) => `Esta página precisa de JavaScript. Sem ele, envie JSON por POST a ${post}; veja ${docs}.`,
  docs: "a API",
};

const ar: PageWords = {
  logIn: { title: "تسجيل الدخول", button: "تسجيل الدخول" },
  setUp: { title: "إنشاء المشرف الأول", button: "إنشاء الحساب" },
  signUp: { title: "إنشاء حساب", button: "إنشاء الحساب" },
  reset: { title: "تعيين كلمة مرور جديدة", button: "تعيين كلمة المرور" },
  name: "الاسم",
  password: "كلمة المرور",
  hint: "8 أحرف على الأقل",
  createAccount: "إنشاء حساب",
  noAccountYet: "ليس لديك حساب بعد؟ اطلبه من مشرف هذا الخادم. يظهر رابط المشرف الأول حيث شُغّل الخادم.",
  invitationNeeded: "لإنشاء حساب، افتح رابط الدعوة الذي وصلك.",
  signUpClosed: "لا يقبل هذا الخادم حسابات جديدة. اطلب حسابًا من أحد المشرفين.",
  noToken: "هذا الرابط غير مكتمل. انسخ الرابط الذي وصلك كاملًا.",
  noServer: "يتعذر الوصول إلى الخادم.",
  noScript: (post, docs) => `تحتاج هذه الصفحة إلى JavaScript. من دونه، أرسل JSON عبر POST إلى ${post}؛ راجع ${docs}.`,
  docs: "واجهة API",
};

const ja: PageWords = {
  logIn: { title: "ログイン", button: "ログイン" },
  setUp: { title: "最初の管理者を作成", button: "アカウントを作成" },
  signUp: { title: "アカウントを作成", button: "アカウントを作成" },
  reset: { title: "新しいパスワードを設定", button: "パスワードを設定" },
  name: "名前",
  password: "パスワード",
  hint: "8文字以上",
  createAccount: "アカウントを作成",
  noAccountYet:
    "アカウントがない場合は、このサーバーの管理者に依頼してください。最初の管理者用のリンクは、サーバーを起動した場所に表示されています。",
  invitationNeeded: "アカウントを作成するには、届いた招待リンクを開いてください。",
  signUpClosed: "このサーバーは新しいアカウントを受け付けていません。管理者に依頼してください。",
  noToken: "このリンクは不完全です。届いたリンク全体をコピーしてください。",
  noServer: "サーバーに接続できません。",
  noScript: (post, docs) =>
    `このページには JavaScript が必要です。使わない場合は ${post} に JSON を POST してください（${docs}を参照）。`,
  docs: "API",
};

const zh: PageWords = {
  logIn: { title: "登录", button: "登录" },
  setUp: { title: "创建首位管理员", button: "创建账户" },
  signUp: { title: "创建账户", button: "创建账户" },
  reset: { title: "设置新密码", button: "设置密码" },
  name: "名称",
  password: "密码",
  hint: "至少 8 个字符",
  createAccount: "创建账户",
  noAccountYet: "还没有账户？请向此服务器的管理员申请。首位管理员的链接显示在启动服务器的地方。",
  invitationNeeded: "要创建账户，请打开您收到的邀请链接。",
  signUpClosed: "此服务器不接受新账户。请联系管理员。",
  noToken: "此链接不完整。请复制您收到的完整链接。",
  noServer: "无法连接服务器。",
  noScript: (post, docs) => `此页面需要 JavaScript。若不使用，请将 JSON 以 POST 发送到 ${post}；参见${docs}。`,
  docs: "API",
};

const languages = { en, de, es, fr, pt, ar, ja, zh };
type PageLanguage = keyof typeof languages;

/** As the page itself chooses: the first that a browser wants and the page has. */
export function wordsFor(wanted = ""): { readonly language: PageLanguage; readonly words: PageWords } {
  const wished = wanted
    .slice(0, 1000)
    .split(",")
    .map((each) => each.trim().split(/[-;]/)[0]!.toLowerCase());
  const isKnown = (name: string): name is PageLanguage => Object.hasOwn(languages, name);
  const language = wished.find(isKnown) ?? "en";
  return { language, words: languages[language] };
}
