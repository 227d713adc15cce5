import type { Role } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';

/** The caller, for pages that show only permitted actions. */
export interface Me {
  id: string;
  name: string;
  role: Role;
  namespaces: readonly string[];
}

/** The signed-in person; null without one. Open to everyone. */
export async function me({ actor }: Context): Promise<Me | null> {
  if (actor.role === null) return null;
  return { id: actor.id, name: actor.name, role: actor.role, namespaces: actor.namespaces };
}
