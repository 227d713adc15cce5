'use client';

import { createContext, type ReactNode, useContext } from 'react';
import type { Role } from '#server/domain/actor.ts';

export type { Role };

/** The signed-in reader of the pages. */
export interface Reader {
  id: string;
  name: string;
  role: Role;
  /** Namespaces that a publisher may publish in; admins may publish in all. */
  namespaces: readonly string[];
  /** Whether the reader has the grant `scripts`; true for admins. `mayRunPlans` says who may run any plan. */
  scripts: boolean;
}

const ReaderContext = createContext<Reader | undefined>(undefined);

export function ReaderProvider({ reader, children }: { reader: Reader; children: ReactNode }) {
  return <ReaderContext value={reader}>{children}</ReaderContext>;
}

/** Returns the reader of this page. `can` only decides what to hide; the portal checks permissions again. */
export function useReader(): Reader & { can(role: Role): boolean } {
  const reader = useContext(ReaderContext);
  if (reader === undefined) throw new Error('useReader stands outside the shell.');
  return { ...reader, can: (role) => includes(reader.role, role) };
}

/** Whether a role includes another: operator and publisher include viewer, admin includes all. */
export function includes(own: Role, wanted: Role): boolean {
  return own === wanted || own === 'admin' || wanted === 'viewer';
}
