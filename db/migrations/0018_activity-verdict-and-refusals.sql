CREATE TABLE "agent_refusals" (
	"vm_id" uuid NOT NULL,
	"code" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	CONSTRAINT "agent_refusals_vm_id_code_pk" PRIMARY KEY("vm_id","code")
);
--> statement-breakpoint
ALTER TABLE "audit_chain" ADD COLUMN "checked_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "audit_chain" ADD COLUMN "verdict" text;--> statement-breakpoint
ALTER TABLE "agent_refusals" ADD CONSTRAINT "agent_refusals_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;