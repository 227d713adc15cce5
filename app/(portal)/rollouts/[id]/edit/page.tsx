import type { Metadata } from 'next';
import { redirect } from 'next/navigation';
import { words } from '#app/_lib/i18n/server.ts';
import { portal, reader } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { endedStates, unstartedStates } from '#server/domain/rollout-rules/words.ts';
import { definitionOf } from '../../new/definition-of.ts';
import { FormPage } from '../../new/form-page.tsx';
import { NoAccess } from '../../new/no-access.tsx';
import { formOf, withoutSecrets } from '../../new/read-form.ts';
import { RolloutEditor } from '../../new/rollout-editor.tsx';
import { withKept } from '../../new/rollout-form.ts';
import { forRuns } from '../../new/run-parts.ts';
import { StartedEditor } from '../../new/started-editor.tsx';
import { matchesOf, schemaFor, strategiesOf } from '../../new/stored-parts.ts';

/** States in which nothing can be edited. */
const fixedStates = [...endedStates, 'aborting', 'checking'] as const;

interface Props {
  params: Promise<{ id: string }>;
}

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('rollouts');
  return { title: t('new.editTitle') };
}

/** The page that edits a rollout. An ended one is redirected to its own page. */
export default async function EditRolloutPage({ params }: Props) {
  const [{ t }, api, { id }, who] = await Promise.all([words('rollouts'), portal(), params, reader()]);
  const stored = await orNotFound(api.rollouts.get({ id }));
  if (fixedStates.some((state) => state === stored.state)) redirect(`/rollouts/${id}`);
  const crumbs = [
    { label: t('new.rollouts'), href: '/rollouts' },
    { label: stored.name, href: `/rollouts/${id}`, isName: true },
    { label: t('new.editTitle') },
  ];
  if (who?.role !== 'operator' && who?.role !== 'admin') {
    return (
      <Page crumbs={crumbs}>
        <NoAccess role={who?.role ?? 'viewer'} />
      </Page>
    );
  }
  const [fields, strategies] = await Promise.all([api.fleet.fields(), strategiesOf(api)]);
  const definition = definitionOf(stored);
  // A bulk act has one ring. This page is for rings, so the form begins with those of the default strategy.
  const isBulk = stored.kind === 'bulk' && unstartedStates.some((state) => state === stored.state);
  const strategy = strategies.find(({ name }) => !isBulk && name === definition.strategy) ?? strategies[0];
  if (strategy === undefined) throw new Error('the portal has built-in strategies');
  const parts = definition.change.kind === 'run' ? forRuns(strategy.parts) : strategy.parts;
  const form = formOf(isBulk ? { ...definition, strategy: strategy.name, ...parts } : definition, parts);
  if (!unstartedStates.some((state) => state === stored.state)) {
    return (
      <FormPage crumbs={crumbs}>
        <StartedEditor key={id} first={form} stored={stored} strategies={strategies} fields={fields} />
      </FormPage>
    );
  }
  const first = stored.hasProtectedSettings ? withoutSecrets(form) : withKept(form, stored.secretParameters);
  const [loaded, matches] = await Promise.all([schemaFor(api, first.change), matchesOf(api, first)]);
  return (
    <FormPage crumbs={crumbs}>
      <RolloutEditor
        key={id}
        first={first}
        stored={stored}
        strategies={strategies}
        fields={fields}
        loaded={loaded}
        matches={matches}
      />
    </FormPage>
  );
}
