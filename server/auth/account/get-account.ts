import { and, asc, eq, ne } from 'drizzle-orm';
import { accounts, passkeys, type Role, type SignInMethod, totpFactors, users } from '#db/schema/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { arePasskeysPossible, factorsOf } from '../factors/index.ts';
import { allowPerson, confirmedFor, type PersonContext } from '../person.ts';
import { passwordHashOf } from './password-of.ts';

/** A member's own account. */
export interface Account {
  name: string;
  email: string;
  role: Role;
  /** How the member signed in to this session. */
  method: SignInMethod;
  hasPassword: boolean;
  /** Whether the member has connected an account at the OpenID provider. */
  hasProvider: boolean;
  /** Name of the portal's OpenID provider; null if none is configured. */
  provider: string | null;
  arePasskeysPossible: boolean;
  passkeys: { id: string; name: string; backedUp: boolean; createdAt: Date; lastUsedAt: Date | null }[];
  totp: { createdAt: Date; lastUsedAt: Date } | null;
  recoveryCodesLeft: number;
  /** Whether the member must set up a second factor, because the portal requires one. */
  needsFactor: boolean;
  /** When the last confirmation expires. Until then, the member can change factors without confirming again. */
  confirmedUntil: Date;
}

/** Returns the caller's own account. Requires only a session. */
export async function getAccount(ctx: PersonContext): Promise<Account> {
  const session = await allowPerson(ctx);
  const { id } = session.actor;
  const [user] = await ctx.db.select().from(users).where(eq(users.id, id));
  if (!user) throw new DomainError('unauthenticated', 'unauthenticated');
  const [totp] = await ctx.db.select().from(totpFactors).where(eq(totpFactors.userId, id));
  const keys = await ctx.db
    .select({
      id: passkeys.id,
      name: passkeys.name,
      backedUp: passkeys.backedUp,
      createdAt: passkeys.createdAt,
      lastUsedAt: passkeys.lastUsedAt,
    })
    .from(passkeys)
    .where(eq(passkeys.userId, id))
    .orderBy(asc(passkeys.createdAt), asc(passkeys.id));
  const elsewhere = await ctx.db
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(eq(accounts.userId, id), ne(accounts.providerId, 'credential')));
  const { recoveryCodesLeft } = await factorsOf(ctx.db, id);
  return {
    name: user.name,
    email: user.email,
    role: user.role,
    method: session.method,
    hasPassword: (await passwordHashOf(ctx.db, id)) !== null,
    hasProvider: elsewhere.length > 0,
    provider: ctx.signIn.provider?.name ?? null,
    arePasskeysPossible: arePasskeysPossible(ctx.config),
    passkeys: keys,
    totp: totp === undefined ? null : { createdAt: totp.createdAt, lastUsedAt: totp.lastUsedAt },
    recoveryCodesLeft,
    needsFactor: session.needsFactor,
    confirmedUntil: new Date(session.confirmedAt.getTime() + confirmedFor),
  };
}
