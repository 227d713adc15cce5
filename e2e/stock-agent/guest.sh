#!/bin/bash
# The first process of a throwaway machine for the stock agent. stock-machine.ts starts it in new namespaces:
#   unshare --mount --net --uts --ipc --pid --fork --kill-child bash guest.sh ROOT PACKAGE NAME PROGRAMS
# ROOT is an empty folder, PACKAGE the unpacked agent, PROGRAMS a folder of programs that this machine lacks (may be
# absent), WAAGENT_CONF the text of waagent.conf. Prints "ready PID" with the host's process id, then reads the commands
# "start" and "stop". When its input ends, the machine ends too: mounts, network and processes exist only in the
# namespaces, and its disk only in memory. Of the host's folders, the machine sees only /usr, which is read-only.
set -eu
root=$1 package=$2 name=$3 programs=$4

mount --make-rprivate /
# Read while this is still the host's /proc.
read -r pid _ < /proc/self/stat
mount -t tmpfs -o size=512m,mode=755 annex-guest "$root"
cd "$root"
mkdir -p .layers/package .layers/upper .layers/work usr etc dev proc sys run/lock root home opt srv mnt media boot \
  var/lib/waagent var/log/azure var/cache var/tmp tmp .old
ln -s /run var/run
chmod 700 var/lib/waagent root
chmod 1777 tmp var/tmp

# Layers, from the top: memory, the agent's package, and the programs of this machine.
mount --bind "$package" .layers/package
layers=.layers/package/usr
if [ -d "$programs/usr" ]; then
  mkdir .layers/programs
  mount --bind "$programs" .layers/programs
  layers=$layers:.layers/programs/usr
fi
mount -t overlay -o "lowerdir=$layers:/usr,upperdir=.layers/upper,workdir=.layers/work" annex-usr usr
umount .layers/package
if [ -d .layers/programs ]; then umount .layers/programs; fi
for link in bin sbin lib lib32 lib64 libx32; do
  if [ -L "/$link" ]; then cp -P "/$link" .; fi
done

# Files that programs need to find libraries and to identify the system; no keys, no passwords.
for entry in alternatives ld.so.cache ld.so.conf ld.so.conf.d nsswitch.conf os-release debian_version python3 localtime; do
  if [ -e "/etc/$entry" ]; then cp -a "/etc/$entry" etc/; fi
done
mkdir -p etc/ssl etc/ssh
cp /etc/ssl/openssl.cnf etc/ssl/ 2> /dev/null || cp "$programs/etc/ssl/openssl.cnf" etc/ssl/
printf 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n' > etc/passwd
printf 'root:x:0:\nnogroup:x:65534:\n' > etc/group
printf 'root:*:19000:0:99999:7:::\n' > etc/shadow
chmod 600 etc/shadow
printf 'Port 22\nPasswordAuthentication no\n' > etc/ssh/sshd_config
echo "$name" > etc/hostname
printf '127.0.0.1 localhost %s\n' "$name" > etc/hosts
printf '%s\n' "$WAAGENT_CONF" > etc/waagent.conf

mount -t proc proc proc
for entry in sys sysrq-trigger bus fs irq; do
  if [ -e "proc/$entry" ]; then
    mount --bind "proc/$entry" "proc/$entry"
    mount -o remount,ro,bind "proc/$entry"
  fi
done
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o size=1m,mode=755 annex-dev dev
for device in null:3 zero:5 full:7 random:8 urandom:9; do
  mknod -m 666 "dev/${device%:*}" c 1 "${device#*:}"
done
mkdir dev/shm
ln -s /proc/self/fd dev/fd
ln -s fd/0 dev/stdin
ln -s fd/1 dev/stdout
ln -s fd/2 dev/stderr
hostname "$name"

# Loopback only. The agent looks for a route to its server, and waits for a network card if there is none.
ip link set lo up
for address in 168.63.129.16 169.254.169.254; do
  ip address replace "$address/32" dev lo
done
ip route replace 168.63.129.16/32 dev lo

pivot_root . .old
cd /
umount -l .old
rmdir .old

export ANNEX_GUEST_PID=$pid
lost=sys_module,sys_time,sys_boot,sys_rawio,sys_admin,mknod,net_admin,syslog,audit_control,mac_admin,mac_override
# The agent must not be the first process, because its child process would conclude that its parent has ended, and exit.
exec setpriv --no-new-privs --bounding-set="-${lost//,/,-}" --inh-caps=-all /bin/bash -c '
  echo "ready $ANNEX_GUEST_PID"
  while read -r word; do
    case $word in
      start)
        rm -rf /run/*
        mkdir /run/lock
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME=/root PYTHONDONTWRITEBYTECODE=1 \
          /usr/bin/python3 -u /usr/sbin/waagent -daemon -configuration-path:/etc/waagent.conf \
          >> /var/log/waagent.out 2>&1 < /dev/null &
        ;;
      stop)
        # Sends SIGTERM to all processes, then SIGKILL, as when a machine is turned off.
        kill -TERM -1 2> /dev/null || true
        for _ in 1 2 3 4 5 6 7 8 9 10; do
          left=(/proc/[0-9]*)
          [ ${#left[@]} -le 1 ] && break
          sleep 0.1
        done
        kill -KILL -1 2> /dev/null || true
        wait
        ;;
    esac
    echo "done $word"
  done'
