import type { ReactNode } from 'react';

/** Words of the publisher, in a language that no schema tells. */
export function Theirs({ children }: { children: ReactNode }) {
  return <span lang="">{children}</span>;
}
