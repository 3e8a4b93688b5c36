/** Of the list of conversations. */
export const en = {
  days: { today: "Today", yesterday: "Yesterday", week: "Last 7 days", older: "Older" },
  marks: { waiting: "needs your input", working: "working", new: "new" },
  more: "Show more",
  none: "No conversations yet",
  archived: "Archived",
  isPutAway: "Conversation archived.",
  noneArchived: "No archived conversations",
  showArchived: "Archived",
  showOthers: "Back to conversations",
  bringBack: "Unarchive",
  about: (title: string) => `More options: ${title}`,
};
