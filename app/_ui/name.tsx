import type { ReactNode } from 'react';

/** Longer names can be wider than a dialog on a phone, so they may break anywhere. */
const maxUnbroken = 28;

/**
 * A name that a person chose, within a sentence such as the title of a dialog. A short name stays on one line, because
 * browsers break lines at the hyphens of a name such as `web-frankfurt-01`.
 */
export function Name({ children }: { children?: ReactNode }) {
  const isShort = typeof children === 'string' && children.length <= maxUnbroken;
  return (
    <span translate="no" className={isShort ? 'whitespace-nowrap' : 'wrap-anywhere'}>
      {children}
    </span>
  );
}
