export type ChatKitTask =
  | {
      readonly type: "custom";
      readonly title: string;
      readonly content?: string;
      readonly status_indicator: "none" | "loading" | "complete";
    }
  | { readonly type: "thought"; readonly content: string; readonly status_indicator: "complete" };

export type StructuredInput = {
  readonly type: "multiple_choice";
  readonly id: string;
  readonly question: string;
  readonly options: readonly { readonly value: string }[];
  readonly multiple: false;
  readonly answer?: { readonly values: readonly string[]; readonly skipped: boolean };
};

export type ChatKitAnnotation = {
  readonly type: "annotation";
  readonly source:
    | { readonly type: "url"; readonly title: string; readonly url: string }
    | { readonly type: "file"; readonly title: string; readonly filename: string; readonly description?: string };
  /** Behind which character of the text. */
  readonly index: number;
};

export type OutputText = {
  readonly type: "output_text";
  readonly text: string;
  readonly annotations: readonly ChatKitAnnotation[];
};

export type ChatKitAttachment = {
  readonly id: string;
  readonly type: "file" | "image";
  readonly name: string;
  readonly mime_type: string;
};

/** What clients of this dialect see of a thread. */
export type ThreadItem = { readonly id: string; readonly thread_id: string; readonly created_at: string } & (
  | {
      readonly type: "user_message";
      readonly content: readonly { readonly type: "input_text"; readonly text: string }[];
      readonly attachments: readonly ChatKitAttachment[];
      readonly inference_options: object;
    }
  | { readonly type: "assistant_message"; readonly content: readonly OutputText[] }
  | {
      readonly type: "client_tool_call";
      readonly status: "pending" | "completed";
      readonly call_id: string;
      readonly name: string;
      readonly arguments: object;
      readonly output?: unknown;
    }
  | {
      readonly type: "workflow";
      readonly workflow: {
        readonly type: "custom" | "reasoning";
        readonly tasks: readonly ChatKitTask[];
        readonly expanded: false;
      };
    }
  | { readonly type: "task"; readonly task: ChatKitTask }
  | {
      readonly type: "structured_input";
      readonly status: "pending" | "answered" | "skipped";
      readonly inputs: readonly StructuredInput[];
    }
);
export type ItemOfType<Type extends ThreadItem["type"]> = Extract<ThreadItem, { type: Type }>;

export type Thread = {
  readonly id: string;
  readonly title?: string;
  readonly created_at: string;
  readonly status: { readonly type: "active" };
  readonly metadata: object;
  readonly items: ChatKitPage<ThreadItem>;
};

/** `after`: where the next page begins; absent when there is none. */
export type ChatKitPage<Entry> = {
  readonly data: readonly Entry[];
  readonly has_more: boolean;
  readonly after?: string;
};
