import { plural, t } from "@lingui/core/macro";
import { useRef, useState } from "react";
import type { FoundModels } from "../../src/protocol/agents/trials.ts";
import type { DefinedModel } from "../../src/protocol/agents/definitions.ts";
import { definitions } from "./admin-client.ts";
import { type ProviderPreset, providerPresets } from "./provider-presets.ts";
import { DefinitionEditor } from "./definition-editor.tsx";
import { modelFields, Trial } from "./model-trial.tsx";
import { announce } from "../parts/announce.tsx";
import { Problem } from "../parts/problem.tsx";
import { Form } from "../parts/forms/form.tsx";
import { TextField } from "../parts/forms/fields.tsx";
import { reachNames } from "./admin-names.ts";

type ConnectProps = {
  readonly known: readonly DefinedModel[];
  readonly onSaved: () => void;
  readonly onClose: () => void;
};

/** An address and a key; then which models are there, or why none; then one of them is kept. */
export function ConnectModel({ known, onSaved, onClose }: ConnectProps) {
  const [baseUrl, setBaseUrl] = useState("");
  const [apiKey, setApiKey] = useState("");
  const [found, setFound] = useState<FoundModels>();
  const [chosen, setChosen] = useState<string>();
  const [isDefault, setDefault] = useState(true);
  const [preset, setPreset] = useState<ProviderPreset>();
  const form = useRef<HTMLDivElement>(null);
  const choosePreset = (next: ProviderPreset | undefined) => {
    setPreset(next);
    setFound(undefined);
    setBaseUrl(next?.baseUrl ?? "");
    const field = next?.needsKey ? "input[type=password]" : "input";
    form.current?.querySelector<HTMLInputElement>(field)?.focus();
  };
  if (chosen !== undefined)
    return (
      <DefinitionEditor
        section="models"
        kind={definitions.models}
        fields={modelFields}
        draft={{
          id: idFor(chosen, known),
          definition: {
            provider: found?.provider ?? "openai",
            baseUrl: found?.baseUrl ?? wholeAddress(baseUrl),
            model: chosen,
            ...(apiKey !== "" && { apiKey }),
          },
        }}
        tryIt={async (draft) => <Trial trial={await definitions.tryModel(draft)} />}
        onSaved={async ({ id }) => {
          if (isDefault) await definitions.setDefault("model", id);
          announce(t`Model ${id} connected.`);
          onSaved();
        }}
        onClose={() => setChosen(undefined)}
        closeName={t`Back`}
      >
        <label className="flex basis-full items-center gap-2">
          <input type="checkbox" checked={isDefault} onChange={(event) => setDefault(event.target.checked)} />
          {t`Use as the default for agents without a model of their own`}
        </label>
      </DefinitionEditor>
    );
  return (
    <section className="grid gap-3 rounded-card border border-hairline p-3" aria-label={t`Connect a model`}>
      <h2>{t`Connect a model`}</h2>
      <p className="text-muted">{t`Enter the address of a model server (Ollama, llama.cpp, LM Studio, vLLM, or a provider) and its API key, if it needs one. Colloquy lists the models it finds.`}</p>
      <div role="group" aria-label={t`Provider`} className="preset-cards">
        {providerPresets.map((each) => (
          <button
            key={each.name}
            type="button"
            className="preset-card"
            aria-pressed={each === preset}
            onClick={() => choosePreset(each)}
          >
            <span className="font-semibold">{each.name}</span>
            {!each.needsKey && <span className="text-xs text-muted">{t`on this machine`}</span>}
          </button>
        ))}
        <button
          type="button"
          className="preset-card"
          aria-pressed={preset === undefined}
          onClick={() => choosePreset(undefined)}
        >
          <span className="font-semibold">{t`Another server`}</span>
        </button>
      </div>
      <div ref={form}>
        <Form
          name={t`Connect a model`}
          submit={t`Find models`}
          onSubmit={async () => {
            setFound(undefined);
            setFound(
              await definitions.findModels({ baseUrl: wholeAddress(baseUrl), ...(apiKey !== "" && { apiKey }) }),
            );
          }}
          beside={
            <>
              <button type="button" className="button" onClick={() => setChosen("")}>
                {t`Enter manually`}
              </button>
              <button type="button" className="button" onClick={onClose}>
                {t`Cancel`}
              </button>
            </>
          }
        >
          <TextField
            label={t`Address`}
            value={baseUrl}
            onChange={setBaseUrl}
            hint="http://localhost:11434"
            isNeeded
            isWide
            choices={providerPresets.map(({ baseUrl: address }) => address)}
          />
          <TextField label={t`API key (optional)`} type="password" value={apiKey} onChange={setApiKey} />
        </Form>
      </div>
      {found && <FoundModelList found={found} onChoose={setChosen} />}
    </section>
  );
}
/** People write `localhost:11434`; what is elsewhere is asked over TLS. */
function wholeAddress(text: string): string {
  const address = text.trim();
  if (address === "" || address.includes("://")) return address;
  return `${/^(localhost|[\d.]+|\[[\da-f:]+\])(:|\/|$)/i.test(address) ? "http" : "https"}://${address}`;
}

type FoundModelsProps = {
  readonly found: FoundModels;
  readonly onChoose: (model: string) => void;
};

function FoundModelList({ found: { provider, models, reach, wantsKey, tried }, onChoose }: FoundModelsProps) {
  if (wantsKey) return <Problem text={t`This model server needs a valid API key. Correct the key and search again.`} />;
  if (provider === null || models.length === 0)
    return (
      <div role="alert">
        <p>{t`No models found:`}</p>
        <ul>
          {tried.map(({ url, provider: as, outcome }) => (
            <li key={as + url}>
              <code>{url}</code> ({as}): {outcome}
            </li>
          ))}
        </ul>
      </div>
    );
  return (
    <div role="status" className="grid gap-2">
      <p>{t`${plural({ count: models.length }, { one: "# model", other: "# models" })} · Provider: ${provider} · ${{ reach: reachNames[reach] }}. Choose one:`}</p>
      <ul className="flex flex-wrap gap-2">
        {models.slice(0, shown).map((model) => (
          <li key={model}>
            <button type="button" className="button" onClick={() => onChoose(model)}>
              {model}
            </button>
          </li>
        ))}
      </ul>
      {models.length > shown && (
        <p className="text-muted">{t`and ${{ count: models.length - shown }} more: enter the name manually`}</p>
      )}
    </div>
  );
}

const shown = 60;

/** As the provider names it, as far as an id may: and not one that is taken. */
function idFor(model: string, known: readonly DefinedModel[]): string {
  const id = model
    .replaceAll(/[^A-Za-z0-9._:@-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 60);
  const isTaken = (text: string) => known.some((each) => each.id === text);
  if (!isTaken(id)) return id;
  for (let count = 2; ; count++) if (!isTaken(`${id}-${count}`)) return `${id}-${count}`;
}
