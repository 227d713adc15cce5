'use client';

import type { AuthenticationResponseJSON } from '@simplewebauthn/browser';
import { KeyRound } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { canOfferByField, canUsePasskeys, PasskeyError, signWithPasskey, stopAsking } from '#app/_lib/passkeys.ts';
import {
  askPasskey,
  askPasskeyAsFactor,
  type FactorAnswer,
  type FactorKinds,
  signIn,
  signInWithFactor,
  signInWithPasskey,
} from '#app/_lib/session.ts';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { FactorForm } from '../factor-form.tsx';
import { PasswordInput } from '../password-input.tsx';
import { ProviderButton } from '../provider-button.tsx';

interface Message {
  text: string;
  isMild: boolean;
}

export interface SignInFormProps {
  next: string;
  provider: { name: string; isAway: boolean } | null;
  /** Why the provider's answer did not sign in, in words. */
  refused: string | undefined;
}

/** Signs in and goes on to `next`: e-mail and password, then a second factor where there is one; or a passkey alone. */
export function SignInForm({ next, provider, refused }: SignInFormProps) {
  const { t } = useTranslation('auth');
  const [factors, setFactors] = useState<FactorKinds>();
  const [message, setMessage] = useState<Message | undefined>(
    refused === undefined ? undefined : { text: refused, isMild: false },
  );
  // A whole new page, so that nothing read before the sign-in is shown after it.
  const goOn = () => location.assign(next);

  if (factors !== undefined) {
    return (
      <div className="grid gap-4 p-5">
        <h1 className="text-16 font-semibold tracking-tight">{t('factor.title')}</h1>
        <FactorForm
          kinds={(['passkey', 'totp', 'recoveryCode'] as const).filter(
            (kind) => factors[kind] && (kind !== 'passkey' || canUsePasskeys()),
          )}
          askPasskey={askPasskeyAsFactor}
          onShow={async (shown) => {
            await signInWithFactor(shown as FactorAnswer);
            goOn();
          }}
          onProblem={({ code, message: text }) => {
            if (code !== 'sign_in_stale') return;
            setMessage({ text, isMild: true });
            setFactors(undefined);
          }}
        />
        <Button
          variant="ghost"
          className="-ms-3 justify-self-start"
          onClick={() => {
            setMessage(undefined);
            setFactors(undefined);
          }}
        >
          {t('factor.back')}
        </Button>
      </div>
    );
  }
  const byProvider = provider === null ? null : <ProviderButton provider={provider} next={next} />;
  return (
    <PasswordStep
      message={message}
      byProvider={byProvider}
      onMessage={setMessage}
      onFactors={setFactors}
      onDone={goOn}
    />
  );
}

interface PasswordStepProps {
  byProvider: ReactNode;
  message: Message | undefined;
  onMessage(message: Message | undefined): void;
  onFactors(factors: FactorKinds): void;
  onDone(): void;
}

/** E-mail and password. What went wrong stands above the fields until it is tried again. */
function PasswordStep({ message, byProvider, onMessage, onFactors, onDone }: PasswordStepProps) {
  const { t } = useTranslation('auth');
  const explain = useProblem();
  const [busy, setBusy] = useState<'password' | 'passkey'>();
  const [hasPasskeys, setHasPasskeys] = useState(false);
  const passwordRef = useRef<HTMLInputElement>(null);
  // The field's suggestions and the buttons may be answered at once: the first is sent, so that one sign-in is one session.
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
      await sendPasskey(await signWithPasskey(await askPasskey()));
    } catch (error) {
      if (!sent.current) fail(error);
    }
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the page is there
  useEffect(() => {
    setHasPasskeys(canUsePasskeys());
    let isHere = true;
    const offer = async () => {
      if (!(await canOfferByField()) || !isHere) return;
      await sendPasskey(await signWithPasskey(await askPasskey(), true));
    };
    // Nobody asked for it aloud: that none was chosen, or that none can be asked for, is not worth words.
    offer().catch(() => undefined);
    return () => {
      isHere = false;
      void stopAsking();
    };
  }, []);

  return (
    <form
      className="grid gap-4 p-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (busy === undefined) void withPassword(new FormData(event.currentTarget));
      }}
    >
      <h1 className="text-16 font-semibold tracking-tight">{t('signIn.title')}</h1>
      {message === undefined ? null : (
        <Banner boxed status={message.isMild ? 'warning' : 'failed'} role="alert">
          {message.text}
        </Banner>
      )}
      <Field label={t('signIn.email')}>
        <Input name="email" type="email" autoComplete="username webauthn" required autoFocus maxLength={254} />
      </Field>
      <Field label={t('signIn.password')}>
        <PasswordInput name="password" autoComplete="current-password" required maxLength={1024} ref={passwordRef} />
      </Field>
      <Button type="submit" variant="primary" busy={busy === 'password'} className="h-9 w-full">
        {t('signIn.act')}
      </Button>
      {hasPasskeys ? (
        <Button busy={busy === 'passkey'} className="h-9 w-full" onClick={() => void withPasskey()}>
          <KeyRound aria-hidden />
          {t('signIn.passkey')}
        </Button>
      ) : null}
      {byProvider}
      <p className="text-12 text-ink-3">{t('signIn.noAccount')}</p>
    </form>
  );
}
