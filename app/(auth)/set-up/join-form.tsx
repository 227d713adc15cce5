'use client';

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Form } from '#app/_ui/form.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Input } from '#app/_ui/input.tsx';
import { PasswordInput } from '../password-input.tsx';
import { ProviderButton } from '../provider-button.tsx';

/** The same limit as in server/auth/passwords.ts, which enforces it. */
const shortestPassword = 12;

export interface JoinFormProps {
  token: string;
  /** The person the link is for: a name or an email address. */
  recipient: string | null;
  namespaces: readonly string[];
  role: 'viewer' | 'operator' | 'publisher' | 'admin';
  isFirstAdmin: boolean;
  expiresAt: Date;
  provider: { name: string; isAway: boolean } | null;
}

/** Asks the person who opened a one-time link for a name, an email address and a password, and signs the person in. */
export function JoinForm(props: JoinFormProps) {
  const { token, recipient, role, isFirstAdmin, expiresAt, provider } = props;
  const { t } = useTranslation(['auth', 'common']);
  const format = useFormat();
  const { problem, busy, errorAt, isElsewhere, edit, submit, fieldProps } = useJoin(token, recipient);
  const kind = isFirstAdmin ? 'first' : 'join';
  return (
    <Form className="grid gap-4 p-5" noValidate busy={busy} onEdit={edit} onSubmit={submit}>
      <div className="grid gap-1">
        <h1 className="text-16 font-semibold tracking-tight">{t(`auth:setUp.title.${kind}`)}</h1>
        <p className="text-ink-2">
          {isFirstAdmin ? t('auth:setUp.why.first') : t('auth:setUp.why.join', { role: t(`common:role.${role}`) })}
        </p>
        <InvitedAs {...props} />
      </div>
      {problem !== undefined && isElsewhere ? (
        <Banner boxed status={problem.offline ? 'warning' : 'failed'} role="alert">
          {problem.message}
        </Banner>
      ) : null}
      <Field label={t('auth:setUp.name')} hint={t('auth:setUp.name.hint')} error={errorAt('name')}>
        <Input autoComplete="name" autoFocus maxLength={100} {...fieldProps('name')} />
      </Field>
      <Field label={t('auth:setUp.email')} hint={t('auth:setUp.email.hint')} error={errorAt('email')}>
        <Input type="email" autoComplete="username" maxLength={254} {...fieldProps('email')} />
      </Field>
      <Field
        label={t('auth:setUp.password')}
        hint={t('auth:setUp.password.hint', { n: shortestPassword })}
        error={errorAt('password')}
      >
        <PasswordInput autoComplete="new-password" maxLength={128} {...fieldProps('password')} />
      </Field>
      <Button type="submit" variant="primary" busy={busy} className="h-9 w-full">
        {t(`auth:setUp.act.${kind}`)}
      </Button>
      {provider === null ? null : <ProviderButton provider={provider} next="/" invitation={token} />}
      <p className="text-12 text-ink-3">{t('auth:setUp.expires', { time: format.dateTime(expiresAt, 'short') })}</p>
    </Form>
  );
}

/** Says who the link is for, and where a publisher can publish. */
function InvitedAs({ recipient, namespaces }: JoinFormProps) {
  const { t } = useTranslation('auth');
  const format = useFormat();
  return (
    <>
      {recipient === null ? null : <p className="break-words text-ink-2">{t('setUp.recipient', { recipient })}</p>}
      {namespaces.length === 0 ? null : (
        <p className="break-words text-ink-2">
          {t('setUp.namespaces', { count: namespaces.length, list: format.list(namespaces) })}
        </p>
      )}
    </>
  );
}

/** Prefills the name or the email address from the invitation. */
const nameOrAddress = (recipient: string | null) =>
  recipient?.includes('@') ? { name: '', email: recipient } : { name: recipient ?? '', email: '' };

type JoinField = 'name' | 'email' | 'password';

function useJoin(token: string, recipient: string | null) {
  const { t } = useTranslation('auth');
  const trpc = useTRPC();
  const explain = useProblem();
  const [values, setValues] = useState({ ...nameOrAddress(recipient), password: '' });
  const [wasTried, setTried] = useState(false);
  const join = useMutation(trpc.invitations.redeem.mutationOptions({ onSuccess: () => location.assign('/') }));
  const problem = join.error === null ? undefined : explain(join.error);
  const faults: Record<JoinField, string | undefined> = {
    name: values.name.trim() === '' ? t('setUp.name.missing') : undefined,
    email: /^\S+@\S+\.\S+$/.test(values.email.trim()) ? undefined : t('setUp.email.wrong'),
    password:
      values.password.length < shortestPassword
        ? t('setUp.password.short', { n: values.password.length, min: shortestPassword })
        : undefined,
  };
  const busy = join.isPending || join.isSuccess;
  function submit() {
    setTried(true);
    if (Object.values(faults).every((fault) => fault === undefined)) join.mutate({ token, ...values });
  }
  return {
    problem,
    busy,
    edit: () => forgetError(join),
    submit,
    errorAt: (field: JoinField) => (wasTried ? (faults[field] ?? faultAt(problem, `/${field}`)) : undefined),
    /** Whether the problem belongs to no field and must be shown in a banner. */
    isElsewhere: !problem?.faults.some((fault) => fault.path.slice(1) in faults),
    fieldProps: (field: JoinField) => ({
      name: field,
      value: values[field],
      onChange: (event: { target: { value: string } }) => setValues({ ...values, [field]: event.target.value }),
    }),
  };
}
