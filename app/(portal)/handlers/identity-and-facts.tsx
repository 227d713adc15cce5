import type { ReactNode } from 'react';
import { Facts } from '#app/_ui/page-header.tsx';

export interface IdentityAndFactsProps {
  /** A handler id, or a handler id with a version. */
  identity: string;
  items: readonly { label: ReactNode; value: ReactNode }[];
}

/** The line below a title: an identifier, then facts. */
export function IdentityAndFacts({ identity, items }: IdentityAndFactsProps) {
  return (
    <div className="mt-1 flex flex-wrap items-baseline gap-x-5 gap-y-1">
      <span translate="no" className="mono wrap-anywhere">
        {identity}
      </span>
      <Facts items={items} className="mt-0" />
    </div>
  );
}
