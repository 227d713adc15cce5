import { totpFactors } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { takeChallenge, tryChallenge } from '../challenges.ts';
import { allowConfirmed, type PersonContext } from '../person.ts';
import { factorsOf } from './factors-of.ts';
import { type AddTotpInput, addTotpInput } from './input.ts';
import { makeRecoveryCodes } from './recovery-codes.ts';
import { sealSecret, stepOf } from './totp.ts';

const maxTries = 10;

/**
 * Adds the authenticator app that holds the secret from `startTotp`, given one of its codes, and replaces any earlier
 * app. Returns recovery codes if the member had none; otherwise null. Requires a recent confirmation. Throws
 * `code_wrong` or `totp_stale`.
 */
export async function addTotp(ctx: PersonContext, input: AddTotpInput): Promise<{ recoveryCodes: string[] | null }> {
  const { id: sessionId, actor } = await allowConfirmed(ctx);
  const { code } = parse(addTotpInput, input);
  const stale = () => new DomainError('conflict', 'totp_stale');
  const expected = await tryChallenge(ctx, 'new-totp', sessionId, ctx.now, maxTries);
  if (expected === null) throw stale();
  const step = stepOf(expected.secret, code, ctx.now);
  if (step === null) {
    throw new DomainError('unprocessable', 'code_wrong', { faults: [{ path: '/code', code: 'code_wrong' }] });
  }
  return ctx.db.transaction(async (tx) => {
    const taken = await takeChallenge({ db: tx, keys: ctx.keys }, 'new-totp', sessionId, ctx.now);
    if (taken?.secret !== expected.secret) throw stale();
    const row = {
      secret: sealSecret(ctx, actor.id, expected.secret),
      lastStep: step,
      createdAt: ctx.now,
      lastUsedAt: ctx.now,
    };
    await tx
      .insert(totpFactors)
      .values({ userId: actor.id, ...row })
      .onConflictDoUpdate({ target: totpFactors.userId, set: row });
    const { recoveryCodesLeft } = await factorsOf(tx, actor.id);
    const codes = recoveryCodesLeft > 0 ? null : await makeRecoveryCodes(tx, ctx, actor.id, ctx.now);
    await recordAudit(tx, { ...ctx, actor }, { action: 'member.add-totp', target: { kind: 'member', id: actor.id } });
    await recordChange(tx, 'member', actor.id);
    return { recoveryCodes: codes };
  });
}
