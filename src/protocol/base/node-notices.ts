/** What nodes of one database tell each other in passing. Nothing is kept: what a node does not hear at once, it never hears. */
export type NodeNotices = {
  /** Tells all other nodes; a few bytes. */
  tell(subject: string, text?: string): void;
  /** Undefined: this node was away for a moment, so it may have missed any. */
  hear(subject: string, listener: (text: string | undefined) => void): void;
};
