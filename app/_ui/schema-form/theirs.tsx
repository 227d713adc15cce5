import type { ReactNode } from 'react';

/** Text from the publisher, in a language that the schema does not state. */
export function Theirs({ children }: { children: ReactNode }) {
  return <span lang="">{children}</span>;
}
