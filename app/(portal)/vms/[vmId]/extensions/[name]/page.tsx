import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { portal, reader } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { EditorOnDemand } from '../_editor/editor-on-demand.tsx';
import { EditorPage } from '../_editor/editor-page.tsx';
import { NoAccess } from '../_editor/no-access.tsx';
import { firstOf, goalStateOf, membershipsOf, versionsOf } from '../_editor/page-parts.ts';
import { ReasonStrip } from '../_editor/reason-strip.tsx';
import { RolloutNotice } from '../_editor/rollout-notice.tsx';

interface Props {
  params: Promise<{ vmId: string; name: string }>;
  searchParams: Promise<{ version?: string | string[] }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { t } = await words('editor');
  return { title: t('title', { name: decodeURIComponent((await params).name) }) };
}

/** Edits one extension of one VM. `?version=` chooses another published version. */
export default async function ExtensionPage({ params, searchParams }: Props) {
  const { t } = await words('editor');
  const { vmId, name: encoded } = await params;
  const name = decodeURIComponent(encoded);
  const api = await portal();
  const vm = await orNotFound(api.vms.get({ vmId }));
  const crumbs = [
    { label: t('vms'), href: '/vms' },
    { label: vm.name, href: `/vms/${vm.id}`, isName: true },
    { label: name, isName: true },
  ];
  const who = await reader();
  if (who?.role !== 'operator' && who?.role !== 'admin') {
    return (
      <Page crumbs={crumbs}>
        <NoAccess role={who?.role ?? 'viewer'} vm={vm} />
      </Page>
    );
  }
  const extension = await orNotFound(api.goalStates.getExtension({ vmId, name }));
  const [goalState, versions, first, view, memberships] = await Promise.all([
    goalStateOf(api, vmId),
    versionsOf(api, extension.handler, extension.requestedVersion),
    firstOf(api, extension.handler, extension.requestedVersion),
    orNotFound(api.instanceViews.get({ vmId })),
    membershipsOf(api, vmId),
  ]);
  const { version: asked } = await searchParams;
  const chosen = versions.find(({ version, state }) => version === asked && state === 'published')?.version;
  return (
    <EditorPage crumbs={crumbs}>
      <ReasonStrip vmId={vm.id} name={name} first={view} />
      <RolloutNotice vmId={vm.id} handler={extension.handler} name={name} first={memberships} />
      <EditorOnDemand
        vm={vm}
        handler={extension.handler}
        extension={extension}
        goalState={goalState}
        versions={versions}
        first={first}
        chosenVersion={chosen}
      />
    </EditorPage>
  );
}
