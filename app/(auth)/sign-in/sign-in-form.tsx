'use client';

import { KeyRound } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { canUsePasskeys } from '#app/_lib/passkeys.ts';
import { type FactorKinds, requestFactorOptions, type SignInFactor, signInWithFactor } from '#app/_lib/sign-in.ts';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Form } from '#app/_ui/form.tsx';
import { Input } from '#app/_ui/input.tsx';
import { FactorForm } from '../factor-form.tsx';
import { PasswordInput } from '../password-input.tsx';
import { ProviderButton } from '../provider-button.tsx';
import { type PasswordStepOptions, type SignInMessage, usePasswordStep } from './use-password-step.ts';

export interface SignInFormProps {
  next: string;
  provider: { name: string; isAway: boolean } | null;
  hasMembers: boolean;
  /** A sentence about why signing in through the provider failed. */
  refused: string | undefined;
}

/**
 * Signs in with an email address, a password and, if there is one, a second factor; with a passkey alone; or through
 * the OpenID provider. Then opens `next`.
 */
export function SignInForm({ next, provider, hasMembers, refused }: SignInFormProps) {
  const { t } = useTranslation('auth');
  const [factors, setFactors] = useState<FactorKinds>();
  const [message, setMessage] = useState<SignInMessage | undefined>(
    refused === undefined ? undefined : { text: refused, isMild: false },
  );
  // A full page load, so that no data from before the sign-in remains in memory.
  const openNext = () => location.assign(next);

  if (factors !== undefined) {
    return (
      <div className="grid gap-4 p-5">
        <h1 className="text-16 font-semibold tracking-tight">{t('factor.title')}</h1>
        <FactorForm
          kinds={(['passkey', 'totp', 'recoveryCode'] as const).filter(
            (kind) => factors[kind] && (kind !== 'passkey' || canUsePasskeys()),
          )}
          askPasskey={requestFactorOptions}
          onShow={async (shown) => {
            await signInWithFactor(shown as SignInFactor);
            openNext();
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
      hasMembers={hasMembers}
      onMessage={setMessage}
      onFactors={setFactors}
      onDone={openNext}
    />
  );
}

interface PasswordStepProps extends PasswordStepOptions {
  hasMembers: boolean;
  byProvider: ReactNode;
  message: SignInMessage | undefined;
}

function PasswordStep({ message, byProvider, hasMembers, onMessage, onFactors, onDone }: PasswordStepProps) {
  const { t } = useTranslation('auth');
  const { busy, hasPasskeys, passwordRef, withPassword, withPasskey } = usePasswordStep({
    onMessage,
    onFactors,
    onDone,
  });
  return (
    <Form
      className="grid gap-4 p-5"
      busy={busy !== undefined}
      onSubmit={(form) => void withPassword(new FormData(form))}
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
      <p className="text-12 text-ink-3">{t(hasMembers ? 'signIn.noAccount' : 'signIn.noMembers')}</p>
    </Form>
  );
}
