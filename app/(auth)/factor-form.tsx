'use client';

import type { AuthenticationResponseJSON, PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';
import { KeyRound } from 'lucide-react';
import { type Ref, useEffect, useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { PasskeyError, signWithPasskey } from '#app/_lib/passkeys.ts';
import type { ExplainedProblem } from '#app/_lib/problem.ts';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Form } from '#app/_ui/form.tsx';
import { Input } from '#app/_ui/input.tsx';
import { PasswordInput } from './password-input.tsx';

export const factorKinds = ['passkey', 'totp', 'recoveryCode', 'password'] as const;
export type FactorKind = (typeof factorKinds)[number];

/** The proof of one factor, as sent to the portal. */
export type FactorProof =
  | { code: string }
  | { recoveryCode: string }
  | { password: string }
  | { passkey: AuthenticationResponseJSON };

export interface FactorFormProps {
  /** The factors that the reader can use. The form starts with the first factor. */
  kinds: readonly FactorKind[];
  askPasskey(): Promise<PublicKeyCredentialRequestOptionsJSON>;
  /**
   * Sends the proof and resolves when the portal accepts it. The form then stays busy until the caller closes or
   * replaces it.
   */
  onShow(proof: FactorProof): Promise<void>;
  /** Called with the portal's problem, which the form also shows. Not called if the browser's passkey dialog failed. */
  onProblem?(problem: ExplainedProblem): void;
  /** Label of the submit button for all factors except a passkey; `factor.act` by default. */
  act?: string;
}

/**
 * Asks for one factor (a passkey, a code from the app, a recovery code or the password) and offers the other factors.
 */
export function FactorForm({ kinds, askPasskey, onShow, onProblem, act }: FactorFormProps) {
  const { t } = useTranslation('auth');
  const [kind, setKind] = useState<FactorKind>(kinds[0] ?? 'password');
  const [value, setValue] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each kind of factor has its own field
  useEffect(() => (field.current ?? button.current)?.focus(), [kind]);
  const { busy, message, setMessage, submit } = useFactorSubmit({
    show: async () => {
      if (kind === 'passkey') await onShow({ passkey: await signWithPasskey(await askPasskey()) });
      else if (kind === 'totp') await onShow({ code: value });
      else if (kind === 'recoveryCode') await onShow({ recoveryCode: value });
      else await onShow({ password: value });
    },
    onRejected: () => field.current?.select(),
    onProblem,
  });
  const choose = (other: FactorKind) => {
    setKind(other);
    setValue('');
    setMessage(undefined);
  };
  return (
    <Form className="grid gap-4" busy={busy} onSubmit={() => void submit()}>
      {message === undefined ? null : (
        <Banner boxed status={message.isMild ? 'warning' : 'failed'} role="alert">
          {message.text}
        </Banner>
      )}
      <FactorField kind={kind} value={value} onChange={setValue} ref={field} />
      <Button ref={button} type="submit" variant="primary" busy={busy} className="h-9 w-full">
        {kind === 'passkey' ? <KeyRound aria-hidden /> : null}
        {kind === 'passkey' ? t('factor.passkey.act') : (act ?? t('factor.act'))}
      </Button>
      <OtherFactors kinds={kinds.filter((each) => each !== kind)} disabled={busy} onChoose={choose} />
    </Form>
  );
}

interface FactorSubmitOptions extends Pick<FactorFormProps, 'onProblem'> {
  show(): Promise<void>;
  onRejected(): void;
}

function useFactorSubmit({ show, onRejected, onProblem }: FactorSubmitOptions) {
  const { t } = useTranslation('auth');
  const explain = useProblem();
  const [busy, setBusy] = useState(false);
  const [message, setMessage] = useState<{ text: string; isMild: boolean }>();
  async function submit() {
    setBusy(true);
    setMessage(undefined);
    try {
      await show();
    } catch (error) {
      setBusy(false);
      if (error instanceof PasskeyError) {
        setMessage({ text: t(`passkey.${error.trouble}`), isMild: error.trouble === 'cancelled' });
        return;
      }
      const problem = explain(error);
      const text = problem.faults[0]?.message ?? problem.message;
      setMessage({ text, isMild: problem.offline || problem.status === 429 });
      onRejected();
      onProblem?.(problem);
    }
  }
  return { busy, message, setMessage, submit };
}

interface FactorFieldProps {
  kind: FactorKind;
  value: string;
  onChange(value: string): void;
  ref: Ref<HTMLInputElement>;
}

function FactorField({ kind, value, onChange, ref }: FactorFieldProps) {
  const { t } = useTranslation('auth');
  const input = {
    value,
    ref,
    required: true,
    onChange: (event: { target: { value: string } }) => onChange(event.target.value),
  };
  if (kind === 'passkey') return <p className="text-ink-2">{t('factor.passkey.why')}</p>;
  if (kind === 'totp') {
    return (
      <Field key={kind} label={t('factor.totp')} hint={t('factor.totp.hint')}>
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
    );
  }
  if (kind === 'recoveryCode') {
    return (
      <Field key={kind} label={t('factor.recoveryCode')} hint={t('factor.recoveryCode.hint')}>
        <Input {...input} mono name="recovery-code" autoComplete="off" autoCapitalize="off" spellCheck={false} />
      </Field>
    );
  }
  return (
    <Field key={kind} label={t('signIn.password')}>
      <PasswordInput {...input} name="password" autoComplete="current-password" maxLength={1024} />
    </Field>
  );
}

interface OtherFactorsProps {
  kinds: readonly FactorKind[];
  disabled: boolean;
  onChoose(kind: FactorKind): void;
}

function OtherFactors({ kinds, disabled, onChoose }: OtherFactorsProps) {
  const { t } = useTranslation('auth');
  if (kinds.length === 0) return null;
  return (
    <div className="grid justify-items-start gap-1">
      {kinds.map((kind) => (
        <button
          key={kind}
          type="button"
          disabled={disabled}
          className="min-h-6 rounded-xs text-12 text-brand-text underline decoration-brand-line underline-offset-3 hover:decoration-current"
          onClick={() => onChoose(kind)}
        >
          {t(`factor.other.${kind}`)}
        </button>
      ))}
    </div>
  );
}
