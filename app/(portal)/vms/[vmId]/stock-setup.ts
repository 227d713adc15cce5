/** Path of the file that contains the forwarder token. */
export const tokenFile = '/etc/annex/guest-token';

/** Returns the systemd unit of a VM's forwarder, as in docs/stock-agent.md. */
export function forwarderUnit({ gatewayUrl, vmId }: { gatewayUrl: string; vmId: string }): string {
  return `[Unit]
Description=Annex forwarder for the Azure Linux agent
Wants=network-online.target
After=network-online.target
Before=walinuxagent.service
StartLimitIntervalSec=0

[Service]
Type=exec
DynamicUser=yes
StateDirectory=annex-wire
LoadCredential=guest-token:/etc/annex/guest-token
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
# "+" runs these commands as root. Without a route to the first address, the agent waits for a network card forever.
ExecStartPre=+/usr/sbin/ip address replace 168.63.129.16/32 dev lo
ExecStartPre=+/usr/sbin/ip address replace 169.254.169.254/32 dev lo
ExecStartPre=+/usr/sbin/ip route replace 168.63.129.16/32 dev lo
ExecStart=/usr/local/bin/annex-agent wire-forward --dir %S/annex-wire --guest-token-file %d/guest-token \\
  --gateway ${gatewayUrl} --vm ${vmId}
Restart=always
RestartSec=2

[Install]
WantedBy=multi-user.target
`;
}

/** Shell commands that install the stock agent on Debian, configure it for Annex, and start it with its forwarder. */
export const stockAgentSetup = `apt-get install --yes waagent
cd /etc
sed -i -E '/^(Provisioning\\.(Agent|DeleteRootPassword|RegenerateSshHostKeyPair|MonitorHostName)|ResourceDisk\\.Format|AutoUpdate\\.Enabled|Logs\\.Collect|OS\\.RootDeviceScsiTimeout)=/d' waagent.conf
cat >> waagent.conf <<'CONF'
Provisioning.Agent=disabled
Provisioning.DeleteRootPassword=n
Provisioning.RegenerateSshHostKeyPair=n
Provisioning.MonitorHostName=n
ResourceDisk.Format=n
AutoUpdate.Enabled=n
Logs.Collect=n
OS.RootDeviceScsiTimeout=None
CONF
mkdir -p systemd/system/walinuxagent.service.d
cat > systemd/system/walinuxagent.service.d/annex.conf <<'UNIT'
[Unit]
ConditionVirtualization=
Wants=annex-wire.service
After=annex-wire.service
UNIT
systemctl daemon-reload
systemctl enable --now annex-wire walinuxagent
`;
