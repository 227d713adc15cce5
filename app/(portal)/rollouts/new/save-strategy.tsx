'use client';

import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ExplainedProblem } from '#app/_lib/problem.ts';
import { useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { Field, FieldError } from '#app/_ui/field.tsx';
import { Form } from '#app/_ui/form.tsx';
import { Input } from '#app/_ui/input.tsx';
import { toast } from '#app/_ui/toast.tsx';
import type { RolloutForm } from './rollout-form.ts';
import { choiceOf, type StrategyChoice } from './strategy-choice.ts';
import { strategyOf } from './strategy-of.ts';

export interface SaveStrategyProps {
  form: RolloutForm;
  strategies: readonly StrategyChoice[];
  onSaved(strategy: StrategyChoice): void;
  onClose(): void;
}

/** Saves the rings and gates of the form as a strategy. An existing one of that name is replaced. */
export function SaveStrategy({ form, strategies, onSaved, onClose }: SaveStrategyProps) {
  const { t } = useTranslation(['rollouts', 'common']);
  const client = useTRPCClient();
  const explain = useProblem();
  const used = strategies.find(({ name, isBuiltIn }) => name === form.strategy && !isBuiltIn);
  const [name, setName] = useState(used?.name ?? '');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ExplainedProblem>();
  const given = name.trim();
  const replaced = strategies.find((strategy) => strategy.name === given && !strategy.isBuiltIn);
  const save = async () => {
    if (given === '') return;
    setBusy(true);
    try {
      const saved = await client.strategies.set.mutate({
        name: given,
        ...strategyOf(form),
        automaticFor: [...(replaced?.automaticFor ?? [])],
      } as Parameters<typeof client.strategies.set.mutate>[0]);
      onSaved(choiceOf(saved));
      toast(t('rollouts:new.strategy.saved', { name: given }));
      onClose();
    } catch (error) {
      setProblem(explain(error));
      setBusy(false);
    }
  };
  const ofName = problem?.faults.find(({ path }) => path === '/name')?.message;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('rollouts:new.strategy.save')}
      description={t('rollouts:new.strategy.saveWhat')}
    >
      <Form busy={busy} noValidate onSubmit={() => void save()}>
        <div className="grid gap-4">
          <Field
            label={t('rollouts:new.strategy.name')}
            error={ofName}
            hint={replaced === undefined ? undefined : t('rollouts:new.strategy.replaces')}
          >
            <Input
              value={name}
              maxLength={100}
              autoComplete="off"
              onChange={(event) => {
                setName(event.target.value);
                setProblem(undefined);
              }}
            />
          </Field>
          {problem !== undefined && ofName === undefined ? (
            <FieldError>{problem.faults[0]?.message ?? problem.message}</FieldError>
          ) : null}
          <div className="flex flex-wrap justify-end gap-2">
            <Button type="button" onClick={onClose}>
              {t('common:cancel')}
            </Button>
            <Button type="submit" variant="primary" busy={busy} disabled={given === ''}>
              {t(replaced === undefined ? 'rollouts:new.strategy.saveIt' : 'rollouts:new.strategy.replaceIt')}
            </Button>
          </div>
        </div>
      </Form>
    </Dialog>
  );
}
