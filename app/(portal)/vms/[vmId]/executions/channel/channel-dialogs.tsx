'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { Field, FieldError } from '#app/_ui/field.tsx';
import { Form } from '#app/_ui/form.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { toast } from '#app/_ui/toast.tsx';
import type { ExecutionChannel } from '#app/(portal)/executions/conductor.ts';

type Dialect = ExecutionChannel['dialect'];

const dialects = ['annex', 'murano'] as const satisfies readonly Dialect[];

interface ChannelDialogProps {
  vmId: string;
  name: string;
  onClose(): void;
}

function useInvalidateChannel() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries(trpc.executions.pathFilter());
}

/** Switches a VM to AMQP, or changes its queue and its kind of agent. `channel`: null if the VM uses HTTPS. */
export function BindDialog({
  vmId,
  name,
  channel,
  onClose,
}: ChannelDialogProps & { channel: ExecutionChannel | null }) {
  const { t } = useTranslation(['executions', 'common']);
  const trpc = useTRPC();
  const formId = useId();
  const explain = useProblem();
  const [before] = useState(channel);
  const [dialect, setDialect] = useState<Dialect>(before?.dialect ?? 'annex');
  const [queue, setQueue] = useState(before?.inputQueue ?? '');
  const bind = useMutation(
    trpc.executions.bind.mutationOptions({
      onSuccess: () => {
        toast(t('executions:channel.bind.done', { name }));
        onClose();
      },
      onSettled: useInvalidateChannel(),
    }),
  );
  const problem = bind.error ? explain(bind.error) : undefined;
  const queueFault = faultAt(problem, '/inputQueue');
  const hint = t(before === null ? 'executions:channel.bind.queue.hint' : 'executions:channel.change.queue.hint');
  const inputQueue = queue.trim();
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t(before === null ? 'executions:channel.bind.title' : 'executions:channel.change.title', { name })}
      description={t(before === null ? 'executions:channel.bind.what' : 'executions:channel.change.what')}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button type="submit" form={formId} variant="primary" busy={bind.isPending}>
            {t(before === null ? 'executions:channel.bind' : 'executions:channel.change')}
          </Button>
        </>
      }
    >
      <Form
        id={formId}
        noValidate
        className="grid grid-cols-[minmax(0,1fr)] gap-3"
        busy={bind.isPending}
        onEdit={() => forgetError(bind)}
        onSubmit={() => bind.mutate({ vmId, dialect, ...(inputQueue !== '' && { inputQueue }) })}
      >
        <Field label={t('executions:channel.agent')} hint={t(`executions:channel.bind.agent.${dialect}`)}>
          <Select
            value={dialect}
            onChange={(event) => setDialect(event.target.value as Dialect)}
            options={dialects.map((each) => ({ value: each, label: t(`executions:channel.agent.${each}`) }))}
          />
        </Field>
        <Field
          label={t('executions:channel.queue')}
          note={before === null ? t('common:optional') : undefined}
          hint={hint}
          error={queueFault && [queueFault, hint].join(' ')}
        >
          <Input
            mono
            value={queue}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            onChange={(event) => setQueue(event.target.value)}
          />
        </Field>
        {problem && !queueFault ? (
          <div role="alert">
            <FieldError>{problem.message}</FieldError>
          </div>
        ) : null}
      </Form>
    </Dialog>
  );
}

/** Asks for confirmation before switching a VM back to HTTPS. */
export function UnbindDialog({ vmId, name, onClose }: ChannelDialogProps) {
  const { t } = useTranslation('executions');
  const trpc = useTRPC();
  const explain = useProblem();
  const unbind = useMutation(
    trpc.executions.unbind.mutationOptions({
      onSuccess: () => toast(t('channel.unbind.done', { name })),
      onSettled: useInvalidateChannel(),
    }),
  );
  return (
    <ConfirmDialog
      open
      tone="default"
      onOpenChange={onClose}
      title={t('channel.unbind.title', { name })}
      description={t('channel.unbind.what')}
      confirmLabel={t('channel.unbind')}
      onConfirm={() => unbind.mutateAsync({ vmId })}
      error={unbind.error ? explain(unbind.error).message : undefined}
    />
  );
}
