import { and, eq, isNull, sql } from 'drizzle-orm';
import { pino } from 'pino';
import { v7 as uuid } from 'uuid';
import type { Transaction } from '#db/client.ts';
import { invitations, users } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { type Context, type Services, systemOrigin } from '#server/domain/context.ts';
import { newToken, sha256Hex } from '#server/platform/keys.ts';
import { invitationLink } from './invitations/index.ts';
import { addMember } from './members/add-member.ts';
import { hashPassword } from './password-hash.ts';
import { email as emailForm } from './passwords.ts';

const day = 86_400_000;

/** Key of the advisory lock that lets only one of several concurrent starts create the first administrator. */
const lock = 5_820_401;

/**
 * Ensures that a first administrator exists or can be created. If there is no administrator, ANNEX_BOOTSTRAP_EMAIL and
 * ANNEX_BOOTSTRAP_PASSWORD create one. Without these variables, every start without an administrator creates a one-time
 * setup link that is valid for a day and replaces the previous link. `setupUrl` is null if there is an administrator.
 */
export async function bootstrapPeople(services: Services, now = new Date()): Promise<{ setupUrl: string | null }> {
  const ctx: Context = {
    ...services,
    actor: systemActor,
    origin: systemOrigin,
    now,
    requestId: `bootstrap-${uuid()}`,
    log: pino({ level: 'silent' }),
  };
  const { person } = services.config.bootstrap;
  const passwordHash = person === null || (await hasAdmin(services.db)) ? null : await hashPassword(person.password);
  return services.db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${lock})`);
    const isSetUpLink = and(eq(invitations.createdBy, systemActor.id), isNull(invitations.usedAt));
    await tx.delete(invitations).where(isSetUpLink);
    if (await hasAdmin(tx)) return { setupUrl: null };
    if (person !== null && passwordHash !== null) {
      const email = emailForm.parse(person.email);
      await addMember(
        tx,
        ctx,
        { name: nameOf(email), email, passwordHash, role: 'admin', namespaces: [] },
        systemActor,
      );
      return { setupUrl: null };
    }
    return { setupUrl: await makeSetUpLink(tx, ctx) };
  });
}

async function hasAdmin(db: Pick<Transaction, 'select'>): Promise<boolean> {
  const found = await db.select({ id: users.id }).from(users).where(eq(users.role, 'admin')).limit(1);
  return found.length > 0;
}

async function makeSetUpLink(tx: Transaction, ctx: Context): Promise<string> {
  const id = uuid();
  const token = newToken('setup');
  const expiresAt = new Date(ctx.now.getTime() + day);
  await tx.insert(invitations).values({
    id,
    tokenHash: sha256Hex(token),
    role: 'admin',
    namespaces: [],
    createdAt: ctx.now,
    createdBy: systemActor.id,
    expiresAt,
  });
  await recordAudit(tx, ctx, {
    action: 'invitation.create',
    target: { kind: 'invitation', id },
    after: { role: 'admin', expiresAt },
    details: { role: 'admin', setUp: true },
  });
  return invitationLink(ctx.config.url, token);
}

/** Returns the initial name of the first administrator, who can change it later. */
function nameOf(email: string): string {
  return email.split('@')[0] ?? email;
}
