'use client';

import type { AuthenticationResponseJSON } from '@simplewebauthn/browser';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import {
  cancelPasskeyRequest,
  canOfferByField,
  canUsePasskeys,
  PasskeyError,
  signWithPasskey,
} from '#app/_lib/passkeys.ts';
import { type FactorKinds, requestPasskeyOptions, signIn, signInWithPasskey } from '#app/_lib/sign-in.ts';
import { useProblem } from '#app/_lib/use-problem.ts';

/** What went wrong; `isMild` if the attempt was canceled, was rate-limited, expired, or did not reach the portal. */
export interface SignInMessage {
  text: string;
  isMild: boolean;
}

export interface PasswordStepOptions {
  onMessage(message: SignInMessage | undefined): void;
  /** Called if the password is correct and a second factor is required. */
  onFactors(factors: FactorKinds): void;
  onDone(): void;
}

/**
 * Signs in with a password, or with a passkey that the reader chooses after clicking the button or from the email
 * field's suggestions.
 */
export function usePasswordStep({ onMessage, onFactors, onDone }: PasswordStepOptions) {
  const { t } = useTranslation('auth');
  const explain = useProblem();
  const [busy, setBusy] = useState<'password' | 'passkey'>();
  const [hasPasskeys, setHasPasskeys] = useState(false);
  const passwordRef = useRef<HTMLInputElement>(null);
  // The reader may start several attempts, such as with the field's suggestion and with the button. Only one attempt is
  // sent at a time, so that only one session is created.
  const sent = useRef(false);

  function fail(error: unknown) {
    sent.current = false;
    setBusy(undefined);
    if (error instanceof PasskeyError) {
      onMessage({ text: t(`passkey.${error.trouble}`), isMild: error.trouble === 'cancelled' });
      return;
    }
    const { message: text, offline, status } = explain(error);
    onMessage({ text, isMild: offline || status === 429 });
  }

  async function withPassword(form: FormData) {
    if (sent.current) return;
    sent.current = true;
    setBusy('password');
    onMessage(undefined);
    try {
      const factors = await signIn(String(form.get('email')), String(form.get('password')));
      if (factors === null) onDone();
      else onFactors(factors);
    } catch (error) {
      fail(error);
      passwordRef.current?.select();
    }
  }

  async function sendPasskey(signed: AuthenticationResponseJSON) {
    if (sent.current) return;
    sent.current = true;
    setBusy('passkey');
    try {
      await signInWithPasskey(signed);
      onDone();
    } catch (error) {
      fail(error);
    }
  }

  async function withPasskey() {
    setBusy('passkey');
    onMessage(undefined);
    try {
      await sendPasskey(await signWithPasskey(await requestPasskeyOptions()));
    } catch (error) {
      if (!sent.current) fail(error);
    }
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, when the page is shown
  useEffect(() => {
    setHasPasskeys(canUsePasskeys());
    let isHere = true;
    const offer = async () => {
      if (!(await canOfferByField()) || !isHere) return;
      await sendPasskey(await signWithPasskey(await requestPasskeyOptions(), true));
    };
    // The reader did not request the suggestion, so errors are shown only after a passkey is chosen.
    offer().catch(() => undefined);
    return () => {
      isHere = false;
      void cancelPasskeyRequest();
    };
  }, []);

  return { busy, hasPasskeys, passwordRef, withPassword, withPasskey };
}
