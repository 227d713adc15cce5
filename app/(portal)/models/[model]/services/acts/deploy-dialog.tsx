'use client';

import { useQuery } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { type ExplainedProblem, faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { FormDialog } from '#app/(portal)/settings/form-dialog.tsx';
import { maxServiceNameLength } from '#protocol/unit-names.ts';
import { modelHref } from '../../../model-data.ts';
import { endpointText, type ShownPair } from '../endpoint-pairs.ts';
import type { ServiceDialogsProps } from '../service-acts.ts';
import { DeployFormula } from './deploy-formula.tsx';
import { DeployOptions } from './deploy-options.tsx';
import { chosenPairs, withChoice } from './deploy-relations.ts';
import { nameFor } from './deploy-values.ts';
import { PlacementField, placeOf } from './placement-field.tsx';
import { isReadable, protectedOf, settingsDraft } from './settings-draft.ts';
import { SettingsFields } from './settings-fields.tsx';
import { useDeploy } from './use-deploy.ts';
import { useNewPairs } from './use-new-pairs.ts';
import { useVersions } from './use-versions.ts';

type DeployDialogProps = Pick<ServiceDialogsProps, 'model' | 'onAdded' | 'onClose'>;

type Values = typeof noValues;

const noValues = {
  formula: '',
  version: '',
  /** The name as typed; null for the suggested name. */
  name: null as string | null,
  placing: { count: '1', to: '' },
  exposed: false,
  draft: settingsDraft({}),
  /** The relations for which the reader chose the opposite of the default. */
  changedPairs: [] as readonly string[],
};

/** Deploys a service from a formula of the catalog, and relates it to services that match. */
export function DeployDialog({ model, onAdded, onClose }: DeployDialogProps) {
  const { t } = useTranslation('services');
  const router = useRouter();
  const explain = useProblem();
  const [values, setValues] = useState(noValues);
  const change = (changed: Partial<Values>) => setValues((before) => ({ ...before, ...changed }));
  const { formula, placing, draft, exposed } = values;
  const versions = useVersions(formula);
  const version = versions.published.includes(values.version) ? values.version : (versions.published[0] ?? '');
  const services = useQuery(useTRPC().services.states.queryOptions({ model: model.name })).data?.items ?? [];
  const name = values.name ?? (formula === '' ? '' : nameFor(formula, services));
  const pairs = useNewPairs({ model: model.name, name, formula, version }, services);
  const related = chosenPairs(pairs, values.changedPairs, name);
  const deploy = useDeploy((machines) => {
    router.replace(`${modelHref(model.name)}?view=services`, { scroll: false });
    onAdded(machines);
    onClose();
  });
  const problem = deploy.error === null ? undefined : explain(deploy.error);
  const units = Number(placing.count);
  const isTaken = !deploy.isPending && services.some((service) => service.name === name);
  const submit = () => {
    if (version === '' || isTaken || !isReadable(draft)) return;
    const declaration = { model: model.name, service: name, formula, version, units, exposed, isNew: true };
    deploy.mutate({
      declaration: { ...declaration, settings: draft.settings, ...protectedOf(draft), ...placeOf(placing) },
      pairs: related.map(({ requires, provides }) => [endpointText(requires), endpointText(provides)]),
    });
  };
  return (
    <FormDialog
      size="wide"
      title={t('deploy.title', { model: model.name })}
      act={t('deploy.act', { count: units })}
      isIdle={version === '' || isTaken}
      busy={deploy.isPending}
      onEdit={() => forgetError(deploy)}
      onSubmit={submit}
      onClose={onClose}
      error={problem === undefined || hasFields(problem) ? undefined : problem.message}
    >
      <DeployFormula
        formula={formula}
        onFormula={(chosen) => change({ ...noValues, formula: chosen, placing, exposed })}
        version={version}
        onVersion={(chosen) => change({ version: chosen })}
        versions={versions}
      />
      {version === '' ? null : (
        <Details
          model={model}
          name={name}
          isTaken={isTaken}
          version={version}
          values={values}
          pairs={pairs}
          problem={problem}
          onChange={(changed) => {
            forgetError(deploy);
            change(changed);
          }}
        />
      )}
    </FormDialog>
  );
}

interface DetailsProps extends Pick<ServiceDialogsProps, 'model'> {
  name: string;
  isTaken: boolean;
  version: string;
  values: Values;
  pairs: readonly ShownPair[];
  problem: ExplainedProblem | undefined;
  onChange(changed: Partial<Values>): void;
}

/** Everything about a new service that depends on its formula. */
function Details({ model, name, isTaken, version, values, pairs, problem, onChange }: DetailsProps) {
  const { formula, placing, draft, exposed, changedPairs } = values;
  return (
    <>
      <NameField name={name} isTaken={isTaken} problem={problem} onChange={(typed) => onChange({ name: typed })} />
      <PlacementField model={model} value={placing} onChange={(placed) => onChange({ placing: placed })} min={0} />
      <SettingsFields
        key={formula}
        formula={formula}
        version={version}
        draft={draft}
        onChange={(changed) => onChange({ draft: changed })}
        stored={null}
        problem={problem}
      />
      <DeployOptions
        name={name}
        pairs={pairs}
        related={chosenPairs(pairs, changedPairs, name)}
        onRelated={(pair, isRelated) =>
          onChange({ changedPairs: withChoice(changedPairs, { pair, pairs, name, isRelated }) })
        }
        exposed={exposed}
        onExposed={(is) => onChange({ exposed: is })}
      />
    </>
  );
}

interface NameFieldProps {
  name: string;
  /** Whether a service of the model has this name. */
  isTaken: boolean;
  problem: ExplainedProblem | undefined;
  onChange(name: string): void;
}

function NameField({ name, isTaken, problem, onChange }: NameFieldProps) {
  const { t } = useTranslation('services');
  const fault = isTaken ? t('deploy.name.taken', { name }) : faultAt(problem, '/service');
  return (
    <Field label={t('deploy.name')} hint={t('deploy.name.hint', { name })} error={fault}>
      <Input
        mono
        required
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        maxLength={maxServiceNameLength}
        value={name}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}

/** Whether each fault of a problem appears at a field. */
const hasFields = ({ faults }: ExplainedProblem): boolean =>
  faults.length > 0 && faults.every(({ path }) => /^\/(service$|settings|protectedSettings)/.test(path));
