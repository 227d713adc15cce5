import { and, eq, isNotNull, notExists, sql } from 'drizzle-orm';
import { accounts, passkeys, signInRules, totpFactors, users } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';

/** The rules for signing in to this portal. */
export interface SignInRules {
  requireFactor: boolean;
  /** Number of members who sign in with only a password. If a factor is required, they must set one up. */
  membersWithoutFactor: number;
}

/** Returns the rules, and the number of members without a factor. */
export async function getSignInRules(ctx: Context): Promise<SignInRules> {
  allow(ctx.actor, 'admin');
  const { db } = ctx;
  const [rules] = await db.select().from(signInRules).where(eq(signInRules.id, 1));
  const one = { one: sql`1` };
  const [without] = await db
    .select({ n: sql<number>`count(*)::int` })
    .from(users)
    .innerJoin(accounts, and(eq(accounts.userId, users.id), isNotNull(accounts.password)))
    .where(
      and(
        notExists(db.select(one).from(passkeys).where(eq(passkeys.userId, users.id))),
        notExists(db.select(one).from(totpFactors).where(eq(totpFactors.userId, users.id))),
      ),
    );
  return { requireFactor: rules?.requireFactor ?? false, membersWithoutFactor: without?.n ?? 0 };
}
