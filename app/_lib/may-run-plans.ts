import type { Role } from '#server/domain/actor.ts';

/** Whether a reader may run any execution plan: operators with the grant `scripts`, and admins, who always have it. */
export function mayRunPlans(reader: { role: Role | null; scripts: boolean } | null): boolean {
  return reader?.scripts === true && (reader.role === 'operator' || reader.role === 'admin');
}
