import type { ReactNode } from 'react';

/** Words of the publisher, in a language that the schema does not name. */
export function Theirs({ children }: { children: ReactNode }) {
  return <span lang="">{children}</span>;
}
