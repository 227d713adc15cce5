import { generateRegistrationOptions, type PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import { eq } from 'drizzle-orm';
import { passkeys } from '#db/schema/index.ts';
import { openChallenge } from '../challenges.ts';
import { allowConfirmed, type PersonContext } from '../person.ts';
import { type AuthenticatorTransport, relyingParty } from './webauthn.ts';

/** Returns the options for creating a passkey for the member in the browser. Requires a recent confirmation. */
export async function startPasskey(ctx: PersonContext): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { id: sessionId, actor, email } = await allowConfirmed(ctx);
  const known = await ctx.db.select().from(passkeys).where(eq(passkeys.userId, actor.id));
  const options = await generateRegistrationOptions({
    rpID: relyingParty(ctx.config).id,
    rpName: 'Annex',
    userID: new Uint8Array(Buffer.from(actor.id)),
    userName: email,
    userDisplayName: actor.name,
    attestationType: 'none',
    excludeCredentials: known.map(({ id, transports }) => ({ id, transports: transports as AuthenticatorTransport[] })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  await openChallenge(ctx, 'new-passkey', { challenge: options.challenge }, ctx.now, sessionId);
  return options;
}
