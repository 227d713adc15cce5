import type { Role } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';

/** The signed-in member. Pages use this to show only permitted actions. */
export interface Me {
  id: string;
  name: string;
  role: Role;
  namespaces: readonly string[];
}

/** Returns the signed-in member; null without a session. Anyone may call this. */
export async function me({ actor }: Context): Promise<Me | null> {
  if (actor.role === null) return null;
  return { id: actor.id, name: actor.name, role: actor.role, namespaces: actor.namespaces };
}
