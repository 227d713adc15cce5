import { verifyRegistrationResponse } from '@simplewebauthn/server';
import { passkeys } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { takeChallenge } from '../challenges.ts';
import { allowConfirmed, type PersonContext } from '../person.ts';
import { factorsOf } from './factors-of.ts';
import { type AddPasskeyInput, addPasskeyInput } from './input.ts';
import { makeRecoveryCodes } from './recovery-codes.ts';
import { relyingParty } from './webauthn.ts';

/**
 * Registers the passkey that the browser created for `startPasskey`. Returns recovery codes if the member had none;
 * otherwise null. Requires a recent confirmation. Throws `passkey_refused` or `passkey_known`.
 */
export async function addPasskey(
  ctx: PersonContext,
  input: AddPasskeyInput,
): Promise<{ recoveryCodes: string[] | null }> {
  const { id: sessionId, actor } = await allowConfirmed(ctx);
  const { name, answer } = parse(addPasskeyInput, input);
  const refused = () => new DomainError('unprocessable', 'passkey_refused');
  const expected = await takeChallenge(ctx, 'new-passkey', sessionId, ctx.now);
  if (expected === null) throw refused();
  const { id: expectedRPID, origins } = relyingParty(ctx.config);
  const { transports = [], ...response } = answer.response;
  const checked = await verifyRegistrationResponse({
    response: { ...answer, response, clientExtensionResults: {} },
    expectedChallenge: expected.challenge,
    expectedOrigin: origins,
    expectedRPID,
    requireUserVerification: true,
  }).catch(() => null);
  if (checked?.verified !== true) throw refused();
  const { credential, credentialBackedUp } = checked.registrationInfo;
  return ctx.db.transaction(async (tx) => {
    const inserted = await tx
      .insert(passkeys)
      .values({
        id: credential.id,
        userId: actor.id,
        name,
        publicKey: Buffer.from(credential.publicKey),
        counter: credential.counter,
        transports,
        backedUp: credentialBackedUp,
        createdAt: ctx.now,
      })
      .onConflictDoNothing()
      .returning({ id: passkeys.id });
    if (inserted.length === 0) throw new DomainError('conflict', 'passkey_known');
    const { recoveryCodesLeft } = await factorsOf(tx, actor.id);
    const codes = recoveryCodesLeft > 0 ? null : await makeRecoveryCodes(tx, ctx, actor.id, ctx.now);
    await recordAudit(
      tx,
      { ...ctx, actor },
      {
        action: 'member.add-passkey',
        target: { kind: 'member', id: actor.id },
        details: { name },
      },
    );
    await recordChange(tx, 'member', actor.id);
    return { recoveryCodes: codes };
  });
}
