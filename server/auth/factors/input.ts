import { z } from 'zod';
import { givenText } from '#protocol/file.ts';

const base64url = z
  .string()
  .regex(/^[\w-]+$/)
  .max(4_096);

/** The browser's response after a passkey signed a challenge (WebAuthn, AuthenticationResponseJSON). */
export const passkeyAnswer = z.object({
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.optional(),
  }),
});

/** The browser's response after it created a passkey (WebAuthn, RegistrationResponseJSON). */
const newPasskey = z.object({
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: base64url,
    attestationObject: z
      .string()
      .regex(/^[\w-]+$/)
      .max(65_536),
    transports: z.array(z.string().max(32)).max(10).optional(),
  }),
});

const passkeyName = givenText(60);

/** Six digits, with or without spaces, as apps show them. */
export const totpCode = z
  .string()
  .max(20)
  .transform((text) => text.replaceAll(/\s/g, ''))
  .pipe(z.string().regex(/^\d{6}$/, 'code_form'));

/** A recovery code as entered. Case, spaces and dashes are ignored. */
const recoveryCode = z
  .string()
  .max(40)
  .transform((text) => text.toLowerCase().replaceAll(/[\s-]/g, ''))
  .pipe(z.string().regex(/^[a-z0-9]{10}$/, 'recovery_code_form'));

/** One factor: an authenticator app's code, a recovery code, or a passkey's response. */
export const factorAnswer = z.union([
  z.strictObject({ code: totpCode }),
  z.strictObject({ recoveryCode }),
  z.strictObject({ passkey: passkeyAnswer }),
]);
export type FactorAnswer = z.output<typeof factorAnswer>;

export const addPasskeyInput = z.strictObject({ name: passkeyName, answer: newPasskey });
export type AddPasskeyInput = z.input<typeof addPasskeyInput>;

export const renamePasskeyInput = z.strictObject({ id: base64url, name: passkeyName });
export type RenamePasskeyInput = z.input<typeof renamePasskeyInput>;

export const removePasskeyInput = z.strictObject({ id: base64url });
export type RemovePasskeyInput = z.input<typeof removePasskeyInput>;

export const addTotpInput = z.strictObject({ code: totpCode });
export type AddTotpInput = z.input<typeof addTotpInput>;

export const resetFactorsInput = z.strictObject({ id: z.string().min(1).max(64) });
export type ResetFactorsInput = z.input<typeof resetFactorsInput>;
