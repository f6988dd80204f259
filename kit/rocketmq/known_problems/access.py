"""Known problems of access: ACL 1.0 (plain_acl.yml) and authentication and authorization of 5.3."""

from __future__ import annotations

from typing import Final

from kit.i18n import T
from kit.rocketmq.known_problems.problem import Problem, problem

PROBLEMS: Final[tuple[Problem, ...]] = (
    problem(
        "acl-no-account",
        T("The access key is not known to the broker"),
        ("No acl config for", "No accessKey is configured", "user:{} is invalid", "User:{} is not found"),
        T("The client sent an access key that plain_acl.yml (or the user table of 5.3) does not hold, or none at all."),
        T("accessKey of the client; accounts of plain_acl.yml on every broker."),
        "acl/plain/PlainPermissionManager.validate",
        remedy=T("Configure the key on client or broker; changes of the file are read without a restart."),
        risk=T("None."),
        verdict="confirmed",
        unless=r"^(?![\s\S]*(?:acl|Acl|accessKey|user))",
        example="CODE: 1  DESC: org.apache.rocketmq.acl.common.AclException: No acl config for RocketMQ2",
        cause="acl-denied",
    ),
    problem(
        "acl-signature",
        T("The signature does not match: the secret is wrong"),
        ("Check signature failed for accessKey", "CAL_SIGNATURE_FAILED", "[10015:signature-failed]"),
        T(
            "The access key is known, but the request was signed with another secret, or something changed the request on its way."
        ),
        T("secretKey of client and broker: blanks, quotes, encoding."),
        "acl/plain/PlainPermissionManager.validate",
        remedy=T("Set the same secret on both sides."),
        risk=T("None."),
        verdict="confirmed",
        example="org.apache.rocketmq.acl.common.AclException: Check signature failed for accessKey=RocketMQ",
        cause="acl-denied",
    ),
    problem(
        "acl-denied",
        T("The account may not do this"),
        ("No default permission for", "has no permission to", "Need admin permission for request code"),
        T(
            "The account is known, and topic or group permissions do not allow the request: PUB to send, SUB to consume (and SUB on the group's retry topic), admin for changes."
        ),
        T("Which resource does the text name? defaultTopicPerm, topicPerms, groupPerms of that account."),
        "acl/plain/PlainPermissionManager.checkPerm",
        remedy=T("Grant the one permission on that topic or group."),
        risk=T("Admin rights for applications allow deleting topics."),
        verdict="confirmed",
        unless=r"^(?![\s\S]*(?:acl|Acl|ACL|topic|Topic|group|Group|request code))",
        example="org.apache.rocketmq.acl.common.AclException: No default permission for orders",
        cause="acl-denied",
    ),
    problem(
        "acl-whitelist",
        T("The client's address is not allowed"),
        (
            "NetAddress examine scope Exception",
            "Netaddress examine scope Exception",
            "netaddress examine scope Exception",
            "netAddress examine scope Exception",
            "etaddress examine Exception",
            "etAddress examine Exception",
            "wrong format IP(s)",
        ),
        T(
            "globalWhiteRemoteAddresses or the account's whiteRemoteAddress do not cover the client's address, or one of their patterns is not valid."
        ),
        T("The address as the broker sees it (behind NAT another one) against the patterns."),
        "acl/plain/RemoteAddressStrategyFactory",
        remedy=T("Correct the pattern."),
        risk=T("A wide pattern in globalWhiteRemoteAddresses lets everybody in without a key."),
        verdict="confirmed",
        example="org.apache.rocketmq.acl.common.AclException: NetAddress examine scope Exception netAddress is 10.20.*.*.1",
        cause="acl-denied",
    ),
    problem(
        "acl-config",
        T("The ACL configuration cannot be used"),
        (
            "Users must ensure that the acl yaml config file",
            "Convert yaml file to data object error",
            "is repeated in multiple ACL files",
            "No data in file",
            "Failed to start AclWatcherService",
            "acl isn't be enabled",
            "the acl is not enabled",
            "Failed to enable ACL",
            "Failed to parse configuration to enable ACL",
        ),
        T("plain_acl.yml (conf/ or conf/acl/) is missing, empty, not valid YAML, or names a key twice."),
        T("Indentation of the file named; aclEnable=true on the broker."),
        "acl/plain/PlainPermissionManager.load",
        classes=(
            "acl/PlainPermissionManager",
            "acl/AclUtils",
            "client/AclUtils",
            "auth/AuthMigrator",
            "auth/PlainPermissionManager",
        ),
        remedy=T("Correct the file; it is read again when it changes."),
        risk=T("An empty file with aclEnable=true locks everybody out."),
        verdict="suspected",
        unless=r"tools\.ya?ml",  # mqadmin without an access key of its own (tools/command/MQAdminStartup.getAclRPCHook)
    ),
    problem(
        "mqadmin-without-acl",
        T("mqadmin found no access key of its own"),
        "tools.yml, acl isn't be enabled",
        T(
            "mqadmin looks for an access key in conf/tools.yml and goes on without one. It says nothing about the broker."
        ),
        T("Nothing, unless the broker refuses mqadmin: then write accessKey and secretKey into conf/tools.yml."),
        "tools/command/MQAdminStartup.getAclRPCHook",
        example="WARN main - Cannot find conf file /opt/rocketmq/conf/tools.yml, acl isn't be enabled.",
    ),
    problem(
        "auth-failed",
        T("Authentication or authorization of 5.3 refused a request"),
        (
            "authenticate failed, request",
            "authorization failed, request",
            "authorize failed, request",
            "The username is blank",
            "The user is not exist",
            "The broker does not enable acl",
            "The super user can only be",
            "Authentication failed. Please verify",
            "Authorization failed. Please verify",
        ),
        T(
            "ACL 2.0 (5.3.0 and later, authenticationEnabled, authorizationEnabled) refused a request: unknown user, wrong signature, or no policy for the resource."
        ),
        T("The exception behind the line; mqadmin listUser and listAcl."),
        "broker/auth/pipeline, auth",
        classes=(
            "broker/AuthenticationPipeline",
            "broker/AuthorizationPipeline",
            "proxy/AuthenticationPipeline",
            "proxy/AuthorizationPipeline",
        ),
        remedy=T("Create the user or the policy; inner clients need innerClientAuthenticationCredentials."),
        risk=T("None."),
        verdict="confirmed",
        since="5.3.0",
        cause="acl-denied",
    ),
)
