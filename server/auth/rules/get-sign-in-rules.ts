import { and, eq, isNotNull, notExists, sql } from 'drizzle-orm';
import { accounts, passkeys, signInRules, totpFactors, users } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';

/** The portal's rules for everyone who signs in. */
export interface SignInRules {
  requireFactor: boolean;
  /** Number of members with only a password, who must set up a factor. */
  membersWithoutFactor: number;
}

/** Returns the rules, and the number of affected members. */
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
