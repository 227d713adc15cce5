'use client';

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Field } from '#app/_ui/field.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Input } from '#app/_ui/input.tsx';
import { PasswordInput } from '../password-input.tsx';
import { ProviderButton } from '../provider-button.tsx';

/** The server's bound (server/auth/passwords.ts); it has the last word. */
const shortestPassword = 12;

export interface JoinFormProps {
  token: string;
  role: 'viewer' | 'operator' | 'publisher' | 'admin';
  isFirstAdmin: boolean;
  expiresAt: Date;
  provider: { name: string; isAway: boolean } | null;
}

/** Name, e-mail and password of the person who opened a one-time link. Joining signs in. */
export function JoinForm({ token, role, isFirstAdmin, expiresAt, provider }: JoinFormProps) {
  const { t } = useTranslation(['auth', 'common']);
  const trpc = useTRPC();
  const explain = useProblem();
  const format = useFormat();
  const [values, setValues] = useState({ name: '', email: '', password: '' });
  const [wasTried, setTried] = useState(false);
  const join = useMutation(trpc.invitations.redeem.mutationOptions({ onSuccess: () => location.assign('/') }));
  const problem = join.error === null ? undefined : explain(join.error);
  const kind = isFirstAdmin ? 'first' : 'join';

  const own = {
    name: values.name.trim() === '' ? t('auth:setUp.name.missing') : undefined,
    email: /^\S+@\S+\.\S+$/.test(values.email.trim()) ? undefined : t('auth:setUp.email.wrong'),
    password:
      values.password.length < shortestPassword
        ? t('auth:setUp.password.short', { n: values.password.length, min: shortestPassword })
        : undefined,
  };
  const errorAt = (field: keyof typeof own) => (wasTried ? (own[field] ?? faultAt(problem, `/${field}`)) : undefined);
  const isElsewhere = problem !== undefined && !problem.faults.some((fault) => fault.path.slice(1) in own);

  function set(field: keyof typeof values) {
    return (event: { target: { value: string } }) => {
      if (join.error !== null) join.reset();
      setValues({ ...values, [field]: event.target.value });
    };
  }

  return (
    <form
      className="grid gap-4 p-5"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        const wrong = (['name', 'email', 'password'] as const).find((field) => own[field] !== undefined);
        if (wrong === undefined) {
          if (!join.isPending && !join.isSuccess) join.mutate({ token, ...values });
          return;
        }
        const field = event.currentTarget.elements.namedItem(wrong);
        if (field instanceof HTMLElement) field.focus();
      }}
    >
      <div className="grid gap-1">
        <h1 className="text-16 font-semibold tracking-tight">{t(`auth:setUp.title.${kind}`)}</h1>
        <p className="text-ink-2">
          {isFirstAdmin ? t('auth:setUp.why.first') : t('auth:setUp.why.join', { role: t(`common:role.${role}`) })}
        </p>
      </div>
      {isElsewhere ? (
        <Banner boxed status={problem.offline ? 'warning' : 'failed'} role="alert">
          {problem.message}
        </Banner>
      ) : null}
      <Field label={t('auth:setUp.name')} hint={t('auth:setUp.name.hint')} error={errorAt('name')}>
        <Input name="name" autoComplete="name" autoFocus maxLength={100} value={values.name} onChange={set('name')} />
      </Field>
      <Field label={t('auth:setUp.email')} hint={t('auth:setUp.email.hint')} error={errorAt('email')}>
        <Input
          name="email"
          type="email"
          autoComplete="username"
          maxLength={254}
          value={values.email}
          onChange={set('email')}
        />
      </Field>
      <Field
        label={t('auth:setUp.password')}
        hint={t('auth:setUp.password.hint', { n: shortestPassword })}
        error={errorAt('password')}
      >
        <PasswordInput
          name="password"
          autoComplete="new-password"
          maxLength={128}
          value={values.password}
          onChange={set('password')}
        />
      </Field>
      <Button type="submit" variant="primary" busy={join.isPending || join.isSuccess} className="h-9 w-full">
        {t(`auth:setUp.act.${kind}`)}
      </Button>
      {provider === null ? null : <ProviderButton provider={provider} next="/" invitation={token} />}
      <p className="text-12 text-ink-3">{t('auth:setUp.expires', { time: format.dateTime(expiresAt, 'short') })}</p>
    </form>
  );
}
