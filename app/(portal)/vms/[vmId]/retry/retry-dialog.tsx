'use client';

import { useMutation } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { Field, FieldError } from '#app/_ui/field.tsx';
import { Form } from '#app/_ui/form.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Input } from '#app/_ui/input.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { retryLimits } from '#server/domain/retries/input.ts';
import { useInvalidateRetries } from './use-retry.ts';

export interface RetryDialogProps {
  vmId: string;
  name: string;
  /** The sequence number that the page showed. */
  sequenceNumber: number;
  onClose(): void;
}

/** Returns the number in a field; null unless it is a whole number from 1 to `max`. */
const wholeNumber = (text: string, max: number): number | null =>
  /^\d+$/.test(text.trim()) && Number(text) >= 1 && Number(text) <= max ? Number(text) : null;

/**
 * Starts repeated retries of an extension: the first retry now, further retries at an interval until the extension
 * recovers.
 */
export function RetryDialog({ vmId, name, sequenceNumber, onClose }: RetryDialogProps) {
  const { t } = useTranslation(['reports', 'common']);
  const trpc = useTRPC();
  const formId = useId();
  const format = useFormat();
  const explain = useProblem();
  const [typed, setTyped] = useState({ everyMinutes: '15', times: '5' });
  const [asked, setAsked] = useState(false);
  const retry = useMutation(
    trpc.goalStates.retryExtension.mutationOptions({
      onSuccess: () => {
        toast(t('reports:retry.done', { name }));
        onClose();
      },
      onSettled: useInvalidateRetries(),
    }),
  );
  const everyMinutes = wholeNumber(typed.everyMinutes, retryLimits.minutes);
  const times = wholeNumber(typed.times, retryLimits.times);
  const problem = retry.error ? explain(retry.error) : undefined;
  const submit = () => {
    setAsked(true);
    if (everyMinutes !== null && times !== null) retry.mutate({ vmId, name, sequenceNumber, everyMinutes, times });
  };
  const field = (key: keyof typeof typed, value: number | null, max: number) => (
    <Field
      label={t(`reports:retry.${key}`)}
      error={
        asked && value === null ? t('reports:retry.range', { max: format.number(max) }) : faultAt(problem, `/${key}`)
      }
    >
      <Input
        type="number"
        inputMode="numeric"
        min={1}
        max={max}
        value={typed[key]}
        onChange={(event) => setTyped({ ...typed, [key]: event.target.value })}
      />
    </Field>
  );
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('reports:retry.dialog.title', { name })}
      description={t('reports:retry.dialog.what', { name })}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button type="submit" form={formId} variant="primary" busy={retry.isPending}>
            {t('reports:retry.dialog.act')}
          </Button>
        </>
      }
    >
      <Form
        id={formId}
        noValidate
        className="grid grid-cols-[minmax(0,1fr)] gap-3"
        busy={retry.isPending}
        onEdit={() => forgetError(retry)}
        onSubmit={submit}
      >
        {field('everyMinutes', everyMinutes, retryLimits.minutes)}
        {field('times', times, retryLimits.times)}
        {problem && problem.faults.length === 0 ? <FieldError>{problem.message}</FieldError> : null}
      </Form>
    </Dialog>
  );
}
