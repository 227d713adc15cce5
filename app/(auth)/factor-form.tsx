'use client';

import type { AuthenticationResponseJSON, PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';
import { KeyRound } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { PasskeyError, signWithPasskey } from '#app/_lib/passkeys.ts';
import type { Problem } from '#app/_lib/problem.ts';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { PasswordInput } from './password-input.tsx';

export const factorKinds = ['passkey', 'totp', 'recoveryCode', 'password'] as const;
export type FactorKind = (typeof factorKinds)[number];

/** What is shown: one of these. */
export type Shown =
  | { code: string }
  | { recoveryCode: string }
  | { password: string }
  | { passkey: AuthenticationResponseJSON };

export interface FactorFormProps {
  /** What can be shown, the likeliest first. */
  kinds: readonly FactorKind[];
  askPasskey(): Promise<PublicKeyCredentialRequestOptionsJSON>;
  /** Fulfilled when it was accepted: the form stays busy then, because the page goes on. */
  onShow(shown: Shown): Promise<void>;
  /** What went wrong, where the caller has something to do about it. */
  onProblem?(problem: Problem): void;
  /** Label of the button; "Go on" by default. */
  act?: string;
}

/** Shows one factor: a passkey, a code of the app, a recovery code or the password; and the ways to another. */
export function FactorForm({ kinds, askPasskey, onShow, onProblem, act }: FactorFormProps) {
  const { t } = useTranslation('auth');
  const explain = useProblem();
  const [kind, setKind] = useState<FactorKind>(kinds[0] ?? 'password');
  const [value, setValue] = useState('');
  const [busy, setBusy] = useState(false);
  const [message, setMessage] = useState<{ text: string; isMild: boolean }>();
  const field = useRef<HTMLInputElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another kind has another field
  useEffect(() => (field.current ?? button.current)?.focus(), [kind]);

  async function submit() {
    if (busy) return;
    setBusy(true);
    setMessage(undefined);
    try {
      if (kind === 'passkey') await onShow({ passkey: await signWithPasskey(await askPasskey()) });
      else if (kind === 'totp') await onShow({ code: value });
      else if (kind === 'recoveryCode') await onShow({ recoveryCode: value });
      else await onShow({ password: value });
    } catch (error) {
      setBusy(false);
      if (error instanceof PasskeyError) {
        setMessage({ text: t(`passkey.${error.trouble}`), isMild: error.trouble === 'cancelled' });
        return;
      }
      const problem = explain(error);
      const text = problem.faults[0]?.message ?? problem.message;
      setMessage({ text, isMild: problem.offline || problem.status === 429 });
      field.current?.select();
      onProblem?.(problem);
    }
  }

  const input = { value, ref: field, required: true, onChange: set };
  function set(event: { target: { value: string } }) {
    setValue(event.target.value);
  }
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {message === undefined ? null : (
        <Banner boxed status={message.isMild ? 'warning' : 'failed'} role="alert">
          {message.text}
        </Banner>
      )}
      {kind === 'passkey' ? <p className="text-ink-2">{t('factor.passkey.why')}</p> : null}
      {kind === 'totp' ? (
        <Field label={t('factor.totp')} hint={t('factor.totp.hint')}>
          <Input
            {...input}
            mono
            name="code"
            inputMode="numeric"
            autoComplete="one-time-code"
            maxLength={8}
            spellCheck={false}
          />
        </Field>
      ) : null}
      {kind === 'recoveryCode' ? (
        <Field label={t('factor.recoveryCode')} hint={t('factor.recoveryCode.hint')}>
          <Input {...input} mono name="recovery-code" autoComplete="off" autoCapitalize="off" spellCheck={false} />
        </Field>
      ) : null}
      {kind === 'password' ? (
        <Field label={t('signIn.password')}>
          <PasswordInput {...input} name="password" autoComplete="current-password" maxLength={1024} />
        </Field>
      ) : null}
      <Button ref={button} type="submit" variant="primary" busy={busy} className="h-9 w-full">
        {kind === 'passkey' ? <KeyRound aria-hidden /> : null}
        {kind === 'passkey' ? t('factor.passkey.act') : (act ?? t('factor.act'))}
      </Button>
      {kinds.length > 1 ? (
        <div className="grid justify-items-start gap-1">
          {kinds
            .filter((each) => each !== kind)
            .map((each) => (
              <button
                key={each}
                type="button"
                disabled={busy}
                className="min-h-6 rounded-xs text-12 text-brand-text underline decoration-brand-line underline-offset-3 hover:decoration-current"
                onClick={() => {
                  setKind(each);
                  setValue('');
                  setMessage(undefined);
                }}
              >
                {t(`factor.other.${each}`)}
              </button>
            ))}
        </div>
      ) : null}
    </form>
  );
}
