import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { portal, reader } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import type { RolloutView } from '#server/domain/rollouts/index.ts';
import { readAddress } from '../../vms/fleet-address.ts';
import type { SentStrategy } from './definition.ts';
import { definitionOf } from './definition-of.ts';
import { FormPage } from './form-page.tsx';
import { NoAccess } from './no-access.tsx';
import { formOf, withoutSecrets } from './read-form.ts';
import { RolloutEditor } from './rollout-editor.tsx';
import { emptyForm, type RolloutForm } from './rollout-form.ts';
import { forRuns } from './run-parts.ts';
import { matchesOf, schemaFor, strategiesOf } from './stored-parts.ts';

type SearchParams = Promise<Record<string, string | string[] | undefined>>;

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('rollouts');
  return { title: t('new.title') };
}

/**
 * The page that creates a rollout. The URL may have a filter of the VM list, which selects the VMs, `runbook` with the
 * runbook to run, or `from` with a rollout whose definition the form starts with.
 */
export default async function NewRolloutPage({ searchParams }: { searchParams: SearchParams }) {
  const [{ t }, api, given, who] = await Promise.all([words('rollouts'), portal(), searchParams, reader()]);
  const crumbs = [{ label: t('new.rollouts'), href: '/rollouts' }, { label: t('new.crumb') }];
  if (who?.role !== 'operator' && who?.role !== 'admin') {
    return (
      <Page crumbs={crumbs}>
        <NoAccess role={who?.role ?? 'viewer'} />
      </Page>
    );
  }
  const { from, runbook } = given;
  const [fields, strategies, like] = await Promise.all([
    api.fleet.fields(),
    strategiesOf(api),
    typeof from === 'string' ? orNotFound(api.rollouts.get({ id: from })) : null,
  ]);
  const [usual] = strategies;
  if (usual === undefined) throw new Error('the portal has built-in strategies');
  const { query } = readAddress(fields, parametersOf(given));
  const first =
    like !== null
      ? copyOf(like, usual.parts)
      : typeof runbook === 'string'
        ? runForm(usual.name, usual.parts, runbook)
        : emptyForm(usual.name, usual.parts, query.filter);
  const [loaded, matches] = await Promise.all([schemaFor(api, first.change), matchesOf(api, first)]);
  return (
    <FormPage crumbs={crumbs}>
      <RolloutEditor
        first={first}
        stored={null}
        strategies={strategies}
        fields={fields}
        loaded={loaded}
        matches={matches}
      />
    </FormPage>
  );
}

function runForm(strategy: string, parts: SentStrategy, runbook: string): RolloutForm {
  const form = emptyForm(strategy, forRuns(parts));
  return { ...form, change: { ...form.change, kind: 'run', run: { ...form.change.run, runbook } } };
}

function copyOf(like: RolloutView, parts: SentStrategy): RolloutForm {
  const form = { ...formOf(definitionOf(like), parts), name: '' };
  return like.hasProtectedSettings ? withoutSecrets(form) : form;
}

function parametersOf(given: Awaited<SearchParams>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(given).flatMap(([name, value]) => [value ?? []].flat().map((one): [string, string] => [name, one])),
  );
}
