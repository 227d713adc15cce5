CREATE TABLE "stock_agents" (
	"vm_id" uuid PRIMARY KEY NOT NULL,
	"container_id" uuid NOT NULL,
	"granted_at" timestamp with time zone NOT NULL,
	"granted_by" text NOT NULL,
	"tenant_key" "bytea" NOT NULL,
	"tenant_key_at" timestamp with time zone NOT NULL,
	"transport_thumbprint" text,
	"transport_at" timestamp with time zone,
	"goal_state_seen" integer DEFAULT 0 NOT NULL,
	"incarnation" integer DEFAULT 0 NOT NULL,
	"incarnation_at" timestamp with time zone,
	"fingerprint" text,
	"settled_incarnation" integer,
	"settled_at" timestamp with time zone,
	"settled_status" text,
	"settled_message" text
);
--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "kind" text DEFAULT 'reference' NOT NULL;--> statement-breakpoint
ALTER TABLE "stock_agents" ADD CONSTRAINT "stock_agents_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;