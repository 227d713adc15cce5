'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardFooter, CardHeader } from '#app/_ui/card.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { Form } from '#app/_ui/form.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { ApprovalFields } from './approval-fields.tsx';
import { FreezeFields } from './freeze-fields.tsx';
import { LimitFields } from './limit-fields.tsx';
import { formOf, type Rules, type RulesForm, rulesOf } from './rules-form.ts';

/** The form's values, which follow the stored rules until the reader edits them. */
function useRules(first: Rules) {
  const { t } = useTranslation('settings');
  const trpc = useTRPC();
  const queries = useQueryClient();
  const { data: rules } = useQuery({ ...trpc.rolloutRules.get.queryOptions(), initialData: first });
  const [edited, setEdited] = useState<RulesForm | null>(null);
  const set = useMutation(
    trpc.rolloutRules.set.mutationOptions({
      onSuccess: async () => {
        await queries.invalidateQueries({ queryKey: trpc.rolloutRules.get.queryKey() });
        setEdited(null);
        toast(t('rollouts.saved'));
      },
    }),
  );
  const form = edited ?? formOf(rules);
  const edit = (change: Partial<RulesForm>) => {
    forgetError(set);
    setEdited({ ...form, ...change });
  };
  return { form, edit, set, isEdited: edited !== null };
}

/** Sets the limits, approvals and freezes of all rollouts. */
export function RolloutRules({ first }: { first: Rules }) {
  const { t } = useTranslation('settings');
  const explain = useProblem();
  const { form, edit, set, isEdited } = useRules(first);
  const problem = set.error === null ? undefined : explain(set.error);
  const fields = { form, edit, faultOf: (path: string) => faultAt(problem, path) };
  return (
    <Card className="max-w-[880px]">
      <CardHeader title={t('rollouts')} />
      <Form busy={set.isPending} noValidate onSubmit={() => set.mutate(rulesOf(form))}>
        <CardBody className="grid grid-cols-[minmax(0,1fr)] gap-5">
          <p className="max-w-[72ch] text-ink-2">{t('rollouts.what')}</p>
          <LimitFields {...fields} />
          <ApprovalFields {...fields} />
          <FreezeFields {...fields} />
          {problem ? <FieldError>{problem.message}</FieldError> : null}
        </CardBody>
        <CardFooter>
          <Button type="submit" variant="primary" busy={set.isPending} disabled={!isEdited}>
            {t('rollouts.save')}
          </Button>
        </CardFooter>
      </Form>
    </Card>
  );
}
