import { eq } from 'drizzle-orm';
import { pino } from 'pino';
import { expect } from 'vitest';
import { auditEntries } from '#db/schema/index.ts';
import { addPasskey, startPasskey } from '#server/auth/factors/index.ts';
import { openSignIn, type SignIn } from '#server/auth/index.ts';
import { createInvitation, redeemInvitation } from '#server/auth/invitations/index.ts';
import type { Services } from '#server/domain/context.ts';
import { openAuthenticator } from './authenticator.ts';
import { openBrowser } from './browser.ts';
import { testBootstrap, testContext, testServices } from './context.ts';

export const password = 'a long enough pass';
export const origin = 'http://localhost:3000';

export type Browser = ReturnType<typeof openBrowser>;

/** A portal with members who sign in with passwords and second factors. */
export interface FactorStage {
  services: Services;
  signIn: SignIn;
  /** Creates a member and signs them in with a password. */
  somebody(): Promise<{ id: string; email: string; browser: Browser }>;
  /** Returns a browser in which the member has entered the password, but no factor yet. */
  afterPassword(email: string): Promise<Browser>;
  /** Returns the recorded actions on a member, oldest first. */
  actsOn(id: string): Promise<string[]>;
}

export async function openFactorStage(): Promise<FactorStage> {
  const services = await testServices();
  const signIn = openSignIn(services, pino({ level: 'silent' }));
  let count = 0;
  const signedIn = async (email: string, status: number) => {
    const browser = openBrowser(services, signIn);
    expect((await browser.post('/sign-in/email', { email, password })).status).toBe(status);
    return browser;
  };
  return {
    services,
    signIn,
    async somebody() {
      count += 1;
      const name = `person-${count}`;
      const email = `${name}@example.org`;
      const { link } = await createInvitation(await testContext({ services, actor: testBootstrap }), {
        role: 'viewer',
      });
      const token = new URL(link).searchParams.get('token') ?? '';
      const guest = await testContext({ services, role: null });
      const { id } = await redeemInvitation(guest, { token, name, email, password });
      return { id, email, browser: await signedIn(email, 204) };
    },
    afterPassword: (email) => signedIn(email, 200),
    async actsOn(id) {
      const { targetId, id: order } = auditEntries;
      const acts = await services.db.select().from(auditEntries).where(eq(targetId, id)).orderBy(order);
      return acts.map(({ action }) => action);
    },
  };
}

/** Registers a passkey. Returns its device, and the recovery codes if it is the member's first factor. */
export async function withPasskey(browser: Browser, name = 'Laptop') {
  const device = openAuthenticator(origin);
  const answer = device.create(await startPasskey(await browser.person()));
  const made = await addPasskey(await browser.person(), { name, answer });
  return { device, codes: made.recoveryCodes };
}

/** Returns the code of the error with which a promise rejects; `ok` if it resolves. */
export const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'ok',
    (error: { code?: string }) => error.code,
  );
