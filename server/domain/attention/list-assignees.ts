import { inArray, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Role } from '#db/schema/auth.ts';
import { users } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';

const assignable: readonly Role[] = ['operator', 'admin'];

/** Whether problems can be assigned to members with this role. */
export const mayBeAssigned = (role: Role): boolean => assignable.includes(role);

/** A member to whom a problem can be assigned. */
export const possibleAssignee = z.object({ id: z.string(), name: z.string() });
export type PossibleAssignee = z.infer<typeof possibleAssignee>;

/** Lists the members to whom problems can be assigned, sorted by name. */
export async function listAssignees(ctx: Context): Promise<{ items: PossibleAssignee[] }> {
  allow(ctx.actor, 'operator');
  const items = await ctx.db
    .select({ id: users.id, name: users.name })
    .from(users)
    .where(inArray(users.role, [...assignable]))
    .orderBy(sql`lower(${users.name})`, users.id);
  return { items };
}
