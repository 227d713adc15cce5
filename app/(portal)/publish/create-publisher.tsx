'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Form } from '#app/_ui/form.tsx';
import { Input } from '#app/_ui/input.tsx';
import { toast } from '#app/_ui/toast.tsx';

export interface CreatePublisherProps {
  namespace: string;
  mayCreate: boolean;
  onCreated(): void;
}

/** Shown if the handler's namespace has no publisher. Admins can create the publisher; other readers see who can. */
export function CreatePublisher({ namespace, mayCreate, onCreated }: CreatePublisherProps) {
  const { t } = useTranslation('packages');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const [displayName, setDisplayName] = useState(namespace);
  const create = useMutation(
    trpc.publishers.create.mutationOptions({
      onSuccess: async () => {
        await queryClient.invalidateQueries(trpc.publishers.pathFilter());
        toast(t('publisher.done', { namespace }));
        onCreated();
      },
    }),
  );
  const absent = (
    <p>
      <Trans text={t(mayCreate ? 'publisher.absent' : 'publisher.absent.ask', { namespace })} tags={{ b: <b /> }} />
    </p>
  );
  if (!mayCreate) return <div className="mt-3 text-ink-2">{absent}</div>;
  return (
    <Form
      className="mt-4 grid gap-3 border-t border-line-subtle pt-3 sm:grid-cols-[minmax(0,1fr)_auto] sm:items-start"
      busy={create.isPending}
      onEdit={() => forgetError(create)}
      onSubmit={() => {
        if (displayName.trim() !== '') create.mutate({ namespace, displayName });
      }}
    >
      <div className="text-ink-2 sm:col-span-2">{absent}</div>
      <Field
        label={t('publisher.name')}
        hint={t('publisher.name.hint')}
        error={create.error ? explain(create.error).message : undefined}
      >
        <Input value={displayName} maxLength={200} onChange={(event) => setDisplayName(event.target.value)} />
      </Field>
      <Button type="submit" busy={create.isPending} className="sm:mt-[23px]">
        {t('publisher.create', { namespace })}
      </Button>
    </Form>
  );
}
