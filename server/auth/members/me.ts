import type { Role } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';

/** The caller's id, name and rights. */
export interface Me {
  id: string;
  name: string;
  role: Role;
  namespaces: readonly string[];
}

/** Returns the caller's id, name and rights; null for a caller without a role. Anyone may call this. */
export async function me({ actor }: Context): Promise<Me | null> {
  if (actor.role === null) return null;
  return { id: actor.id, name: actor.name, role: actor.role, namespaces: actor.namespaces };
}
