/** Links by which a browser of this machine shows that it is its owner's. */
export const openLinks = {
  name: "0027-open-links",
  up: `
alter table account_links drop constraint account_links_purpose_check;
alter table account_links add constraint account_links_purpose_check
  check (purpose in ('setup', 'invite', 'reset', 'open'));`,
} as const;
