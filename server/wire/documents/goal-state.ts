import type { StockGoalState } from '#server/domain/stock-agents/index.ts';
import { addresses } from './addresses.ts';
import { xmlOf } from './xml.ts';

/**
 * Renders the response to polls. If the incarnation has changed, the agent fetches the documents at the URLs in the
 * response.
 */
export function goalStateXml(vmId: string, { containerId, incarnation, extensions }: StockGoalState): string {
  const hasSecrets = extensions.some(({ goal }) => goal.settings.protectedSettings !== undefined);
  return xmlOf({
    GoalState: {
      Version: '2012-11-30',
      Incarnation: String(incarnation),
      Machine: { ExpectedState: 'Started', StopRolesDeadlineHint: '300000' },
      Container: {
        ContainerId: containerId,
        RoleInstanceList: {
          RoleInstance: {
            InstanceId: vmId,
            State: 'Started',
            Configuration: {
              HostingEnvironmentConfig: addresses.hostingEnvironment(containerId, incarnation),
              SharedConfig: addresses.sharedConfig(containerId, incarnation),
              ExtensionsConfig: addresses.extensionsConfig(containerId, incarnation),
              // Without protected settings, the agent does not need the tenant key.
              ...(hasSecrets && { Certificates: addresses.certificates(containerId, incarnation) }),
              ConfigName: `${vmId}.${incarnation}.xml`,
            },
          },
        },
      },
    },
  });
}

export function hostingEnvironmentXml(vm: { id: string; name: string }, { incarnation }: StockGoalState): string {
  const number = String(incarnation);
  return xmlOf({
    HostingEnvironmentConfig: {
      '@version': '1.0.0.0',
      '@goalStateIncarnation': number,
      Deployment: { '@name': vm.id, '@guid': `{${vm.id}}`, '@incarnation': number },
      Incarnation: { '@number': number, '@instance': vm.name, '@guid': `{${vm.id}}` },
      Role: { '@guid': `{${vm.id}}`, '@name': vm.name },
    },
  });
}

/** Renders a document that the agent stores without reading it. Handlers read their deployment from it. */
export function sharedConfigXml(vm: { id: string; name: string }, { incarnation }: StockGoalState): string {
  const number = String(incarnation);
  const guid = `{${vm.id}}`;
  return xmlOf({
    SharedConfig: {
      '@version': '1.0.0.0',
      '@goalStateIncarnation': number,
      Deployment: {
        ...{ '@name': vm.id, '@guid': guid, '@incarnation': number },
        Service: { '@name': vm.id, '@guid': guid },
        ServiceInstance: { '@name': `${vm.id}.${number}`, '@guid': guid },
      },
      Incarnation: { '@number': number, '@instance': vm.name, '@guid': guid },
      Role: { '@guid': guid, '@name': vm.name, '@settleTimeSeconds': '0' },
      LoadBalancerSettings: { '@timeoutSeconds': '0', '@waitLoadBalancerProbeCount': '0', Probes: {} },
      OutputEndpoints: {},
      // The portal does not know the machine's IP address.
      Instances: {
        Instance: {
          ...{ '@id': vm.name, '@address': '' },
          FaultDomains: { '@randomId': '0', '@updateId': '0', '@updateCount': '0' },
          InputEndpoints: {},
        },
      },
    },
  });
}

export const versionsXml = xmlOf({
  Versions: { Preferred: { Version: '2012-11-30' }, Supported: { Version: ['2012-11-30', '2012-09-15'] } },
});
