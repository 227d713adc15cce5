import type { Role } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';

/** Who asks, as pages need it to show what this person may do. */
export interface Me {
  id: string;
  name: string;
  role: Role;
  namespaces: readonly string[];
}

/** The person who is signed in; null for nobody. Open to everyone. */
export async function me({ actor }: Context): Promise<Me | null> {
  if (actor.role === null) return null;
  return { id: actor.id, name: actor.name, role: actor.role, namespaces: actor.namespaces };
}
