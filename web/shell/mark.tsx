/** The sign of the page: two quotation marks that face each other. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden>
      <rect width="32" height="32" rx="7" />
      <path d="M7 20v-5c0-3.3 1.7-5.4 5-6v2.4c-1.5.5-2.3 1.5-2.3 3.1H12V20zM25 12v5c0 3.3-1.7 5.4-5 6v-2.4c1.5-.5 2.3-1.5 2.3-3.1H20V12z" />
    </svg>
  );
}
