import type { Role } from '#db/schema/index.ts';
import { hasScripts } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';

/** The caller's id, name and rights. */
export interface Me {
  id: string;
  name: string;
  role: Role;
  namespaces: readonly string[];
  /** Whether the caller has the rights of the grant `scripts` (docs/permissions.md). */
  scripts: boolean;
}

/** Returns the caller's id, name and rights; null for a caller without a role. Anyone may call this. */
export async function me({ actor }: Context): Promise<Me | null> {
  if (actor.role === null) return null;
  const { id, name, role, namespaces } = actor;
  return { id, name, role, namespaces, scripts: hasScripts(actor) };
}
