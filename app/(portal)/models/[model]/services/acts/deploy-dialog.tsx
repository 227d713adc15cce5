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
import { type EndpointPair, endpointPairs, endpointText } from '../endpoint-pairs.ts';
import type { ServiceDialogsProps } from '../service-acts.ts';
import { DeployFormula } from './deploy-formula.tsx';
import { DeployOptions } from './deploy-options.tsx';
import { nameFor } from './deploy-values.ts';
import { PlacementField, placeOf } from './placement-field.tsx';
import { isReadable, protectedOf, settingsDraft } from './settings-draft.ts';
import { SettingsFields } from './settings-fields.tsx';
import { useDeploy } from './use-deploy.ts';
import { useVersions } from './use-versions.ts';

type DeployDialogProps = Pick<ServiceDialogsProps, 'model' | 'onAdded' | 'onClose'>;

/** Deploys a service from a formula of the catalog, and relates it to services that match. */
export function DeployDialog({ model, onAdded, onClose }: DeployDialogProps) {
  const { t } = useTranslation('services');
  const router = useRouter();
  const explain = useProblem();
  const [formula, setFormula] = useState('');
  const [wanted, setVersion] = useState('');
  const [typedName, setName] = useState<string | null>(null);
  const [placing, setPlacing] = useState({ count: '1', to: '' });
  const [draft, setDraft] = useState(() => settingsDraft({}));
  const [exposed, setExposed] = useState(false);
  const [unrelated, setUnrelated] = useState<readonly string[]>([]);
  const versions = useVersions(formula);
  const version = versions.published.includes(wanted) ? wanted : (versions.published[0] ?? '');
  const services = useQuery(useTRPC().services.states.queryOptions({ model: model.name })).data?.items ?? [];
  const name = typedName ?? (formula === '' ? '' : nameFor(formula, services));
  const pairs = usePairs(model.name, name, { formula, version }, services);
  const related = pairs.filter((pair) => isChosen(pair, pairs, unrelated));
  const deploy = useDeploy((machines) => {
    router.replace(`${modelHref(model.name)}?view=services`, { scroll: false });
    onAdded(machines);
    onClose();
  });
  const problem = deploy.error === null ? undefined : explain(deploy.error);
  const units = Number(placing.count);
  const submit = () => {
    if (formula === '' || version === '' || !isReadable(draft)) return;
    const declaration = {
      model: model.name,
      service: name,
      formula,
      version,
      units,
      exposed,
      settings: draft.settings,
    };
    deploy.mutate({
      declaration: { ...declaration, ...protectedOf(draft), ...placeOf(placing) },
      pairs: related.map(({ requires, provides }) => [endpointText(requires), endpointText(provides)]),
    });
  };
  return (
    <FormDialog
      size="wide"
      title={t('deploy.title', { model: model.name })}
      act={t('deploy.act', { count: units })}
      busy={deploy.isPending}
      onEdit={() => forgetError(deploy)}
      onSubmit={submit}
      onClose={onClose}
      error={problem === undefined || hasField(problem) ? undefined : problem.message}
    >
      <DeployFormula
        formula={formula}
        onFormula={(chosen) => {
          setFormula(chosen);
          setVersion('');
          setDraft(settingsDraft({}));
        }}
        version={version}
        onVersion={setVersion}
        versions={versions}
      />
      {formula === '' || version === '' ? null : (
        <>
          <Field label={t('deploy.name')} hint={t('deploy.name.hint', { name })} error={faultAt(problem, '/service')}>
            <Input
              mono
              required
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              maxLength={maxServiceNameLength}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          </Field>
          <PlacementField model={model} value={placing} onChange={setPlacing} min={0} />
          <SettingsFields
            key={formula}
            formula={formula}
            version={version}
            draft={draft}
            onChange={(changed) => {
              forgetError(deploy);
              setDraft(changed);
            }}
            stored={null}
            problem={problem}
          />
          <DeployOptions
            name={name}
            pairs={pairs}
            related={related}
            onRelated={(pair, is) => setUnrelated(toggled(unrelated, pair, is === isDefault(pair, pairs)))}
            exposed={exposed}
            onExposed={setExposed}
          />
        </>
      )}
    </FormDialog>
  );
}

const keyOf = ({ requires, provides }: EndpointPair): string =>
  `${requires.name} ${endpointText(provides)} ${requires.service}`;

/** Whether a pair is related unless the reader says otherwise: the formula needs it, and there is one way to have it. */
const isDefault = (pair: EndpointPair, pairs: readonly EndpointPair[]): boolean =>
  !pair.optional && pairs.filter(({ requires }) => endpointText(requires) === endpointText(pair.requires)).length === 1;

/** `changed` are the pairs for which the reader chose the opposite. */
const isChosen = (pair: EndpointPair, pairs: readonly EndpointPair[], changed: readonly string[]): boolean =>
  isDefault(pair, pairs) !== changed.includes(keyOf(pair));

const toggled = (changed: readonly string[], pair: EndpointPair, isAsDefault: boolean): string[] => [
  ...changed.filter((key) => key !== keyOf(pair)),
  ...(isAsDefault ? [] : [keyOf(pair)]),
];

/** Whether a fault of a problem appears at a field. */
const hasField = ({ faults }: ExplainedProblem): boolean =>
  faults.length > 0 && faults.every(({ path }) => /^\/(service$|settings|protectedSettings)/.test(path));

/** Returns the pairs of endpoints by which a new service can be related. */
function usePairs(
  model: string,
  name: string,
  { formula, version }: { formula: string; version: string },
  services: Parameters<typeof endpointPairs>[0],
): EndpointPair[] {
  const trpc = useTRPC();
  const relations = useQuery(trpc.relations.list.queryOptions({ model }));
  const chosen = useQuery({
    ...trpc.packages.get.queryOptions({ handler: formula, version }),
    enabled: version !== '',
    staleTime: Number.POSITIVE_INFINITY,
  });
  const manifest = chosen.data?.manifest;
  if (manifest === undefined || 'handlerManifest' in manifest || name === '') return [];
  const endpoints = (['provides', 'requires'] as const).flatMap((side) =>
    Object.entries(manifest[side]).map(([endpoint, facts]) => ({ side, name: endpoint, ...facts, relations: 0 })),
  );
  const own = { name, life: 'alive' as const, endpoints };
  return endpointPairs([...services.filter((one) => one.name !== name), own], relations.data?.items ?? []).filter(
    ({ requires, provides }) => [requires.service, provides.service].includes(name),
  );
}
