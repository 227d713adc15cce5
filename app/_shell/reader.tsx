'use client';

import { createContext, type ReactNode, useContext } from 'react';
import type { Role } from '#server/domain/actor.ts';

export type { Role };

/** Who reads the pages. */
export interface Reader {
  id: string;
  name: string;
  role: Role;
  /** Where a publisher may publish; an admin everywhere. */
  namespaces: readonly string[];
}

const ReaderContext = createContext<Reader | undefined>(undefined);

export function ReaderProvider({ reader, children }: { reader: Reader; children: ReactNode }) {
  return <ReaderContext value={reader}>{children}</ReaderContext>;
}

/** Who reads this page. The portal checks every act again; this only hides what would be refused. */
export function useReader(): Reader & { can(role: Role): boolean } {
  const reader = useContext(ReaderContext);
  if (reader === undefined) throw new Error('useReader stands outside the shell.');
  return { ...reader, can: (role) => includes(reader.role, role) };
}

/** Operator and publisher include viewer, admin includes all. */
export function includes(own: Role, wanted: Role): boolean {
  return own === wanted || own === 'admin' || wanted === 'viewer';
}
