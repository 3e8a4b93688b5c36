/** Of the list of conversations. */
export const en = {
  days: { today: "Today", yesterday: "Yesterday", week: "Last 7 days", older: "Older" },
  marks: { waiting: "waits for you", working: "works", new: "new" },
  more: "Show more",
  none: "Nothing was said yet.",
  archived: "Put away",
  isPutAway: "Put away.",
  noneArchived: "Nothing is put away.",
  showArchived: "Show what was put away",
  showOthers: "Back to the conversations",
  bringBack: "Bring back",
  about: (title: string) => `More about: ${title}`,
};
