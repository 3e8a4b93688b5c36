/** Why a run failed, by the code of its error; what the server says of it is English. */
const reasons: Readonly<Record<string, string>> = {
  model_refused: "Das Modell hat die Anfrage abgelehnt.",
  model_context: "Das Gespräch ist länger, als das Modell fassen kann.",
  model_auth: "Der Anbieter des Modells lässt diesen Server nicht ein: Ist der Schlüssel richtig?",
  model_rate_limit: "Das Modell wurde zu oft gefragt.",
  model_overloaded: "Das Modell ist überlastet.",
  model_unreachable: "Das Modell ist nicht zu erreichen.",
  model_timeout: "Das Modell hat zu lange nichts gesagt.",
  model_cut: "Die Antwort des Modells brach ab.",
  model_garbage: "Was das Modell geantwortet hat, ist nicht zu verstehen.",
  model_server: "Beim Anbieter des Modells ist etwas misslungen.",
  model_unavailable: "Dieses Modell steht nicht zur Verfügung.",
  limit_steps: "Die erlaubten Schritte sind verbraucht.",
  limit_tool_calls: "Die erlaubten Aufrufe sind verbraucht.",
  limit_writes: "Die erlaubten Änderungen sind verbraucht.",
  limit_tokens: "Die erlaubten Tokens sind verbraucht.",
  limit_cost: "Was der Lauf kosten durfte, ist verbraucht.",
  limit_deadline: "Die Zeit des Laufs ist um.",
  limit_repeated_call: "Derselbe Aufruf kam zu oft.",
  limit_budget: "Das Budget ist verbraucht.",
  budget_reached: "Das Budget ist verbraucht.",
  expired: "Niemand kam rechtzeitig, um zu entscheiden.",
  account_erased: "Das Konto dieses Laufs wurde gelöscht.",
  internal: "Im Server ist etwas misslungen.",
};

export function reasonOfRun(code: string): string | undefined {
  return Object.hasOwn(reasons, code) ? reasons[code] : undefined;
}
