/** The logo: a box with an added part. */
export function Mark({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 20 20" aria-hidden="true" className={className}>
      <rect x="1" y="5" width="11.5" height="14" rx="2.6" fill="var(--brand)" />
      <path
        d="M14 10.5h2.4A2.6 2.6 0 0 0 19 7.9V3.6A2.6 2.6 0 0 0 16.4 1H11a2.6 2.6 0 0 0-2.5 2.2"
        fill="none"
        stroke="var(--brand-text)"
        strokeWidth="1.7"
        strokeLinecap="round"
      />
    </svg>
  );
}
